import { freshDashboardSuite } from './fresh-dashboard.oracle.ts';
import { dashboardSuite } from './dashboard.oracle.ts';
import { inFolder } from './place.ts';

dashboardSuite('one process', () => Promise.resolve(inFolder()));
freshDashboardSuite('one process', () => Promise.resolve(inFolder()));
