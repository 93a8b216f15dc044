// Where a server tells of runs of workflows, and takes answers to their tasks.

/** What is under way of a run. */
export const runPath = (namespace: string, name: string): string => `/troupe/v1/runs/${namespace}/${name}`;

/** What has happened in it: `?from=NUMBER&limit=COUNT`. */
export const runHistoryPath = (namespace: string, name: string): string => `${runPath(namespace, name)}/history`;

/** An answer to a task of it that waits for one. */
export const runAnswerPath = (namespace: string, name: string): string => `${runPath(namespace, name)}/answer`;
