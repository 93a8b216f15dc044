// The static shape of a troupe.dev/v1 ClusterConfig: settings that people change while the cluster runs. One object, named `cluster`.

import type {ApiObject} from '../object.js';

export const schedulerStrategies = ['round-robin', 'random', 'least-pods', 'most-pods', 'least-cpu', 'least-memory'] as const;
export type SchedulerStrategy = (typeof schedulerStrategies)[number];

export type ClusterConfigSpec = {readonly scheduler?: {readonly strategy?: SchedulerStrategy}};
export type ClusterConfigStatus = {readonly observedGeneration?: number};
export type ClusterConfig = ApiObject<ClusterConfigSpec, ClusterConfigStatus>;

/** The only name a ClusterConfig may have. */
export const clusterConfigName = 'cluster';
