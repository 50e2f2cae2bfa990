export { type Grant, type Role, roles } from './access/grants.ts';
export { Keyring } from './access/keyring.ts';
export { type ClusterConfig, type ClusterWorld, type Clustered, clusterWorld } from './coordinator.ts';
export { shardCount, shardOf } from './dispatch/streams.ts';
export { type ObserverCommand, runObserver } from './observer-command.ts';
export { type RobotCommand, runRobot } from './robot-command.ts';
export { connect } from './store/connection.ts';
export { type Move, type Moved, moveIn } from './store/immigrate.ts';
export { PostgresStore } from './store/postgres.ts';
