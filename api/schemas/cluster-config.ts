// The schema of the ClusterConfig.

import type {Static} from 'typebox';
import {schedulerStrategies, type ClusterConfigSpec, type ClusterConfigStatus} from '../shapes/cluster-config.js';
import {objectWithOptional} from './metadata.js';
import {about, oneOf, optional, record, whole, type Same} from './parts.js';

const clusterConfigSpec = () =>
	record({
		scheduler: optional(
			about(
				'How pods get their nodes.',
				record({strategy: optional(about('How the scheduler chooses among the nodes that fit.', oneOf(schedulerStrategies)))}),
			),
		),
	});

export const clusterConfigStatus = () => record({observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER))});

export const clusterConfig = () => objectWithOptional(about('Settings of the cluster.', clusterConfigSpec()));

export const specSaysTheSame: Same<Static<ReturnType<typeof clusterConfigSpec>>, ClusterConfigSpec> = true;
export const statusSaysTheSame: Same<Static<ReturnType<typeof clusterConfigStatus>>, ClusterConfigStatus> = true;
