// How the scheduler can choose among the nodes that fit: the words of a ClusterConfig.

export const schedulerStrategies = ['round-robin', 'random', 'least-pods', 'most-pods', 'least-cpu', 'least-memory'] as const;
export type SchedulerStrategy = (typeof schedulerStrategies)[number];
