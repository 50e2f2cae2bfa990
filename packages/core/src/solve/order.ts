/** `order`: in which order to fetch pages that take unequal times. */
import { type Task, bestOrder, expectedTime } from '../plan/order.ts';
import { type Fields, fieldsAt, listAt, numberAt, onlyKeys } from './read.ts';

export function solveOrder(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', ['kind', 'tasks']);
  const tasks = listAt(problem['tasks'], 'tasks').map((value, i): Task => {
    const field = `tasks[${i}]`;
    const task = fieldsAt(value, field);
    onlyKeys(task, field, ['probability', 'time', 'benefit']);
    return {
      probability: numberAt(task['probability'], `${field}.probability`, { min: 0, max: 1 }),
      time: numberAt(task['time'], `${field}.time`, { above: 0 }),
      benefit: task['benefit'] === undefined ? 1 : numberAt(task['benefit'], `${field}.benefit`, { above: 0 }),
    };
  });
  const order = bestOrder(tasks);
  return { order: Array.from(order), expectedTime: expectedTime(tasks, order) };
}
