// The kind HorizontalPodAutoscaler as autoscaling/v1 has it: the same objects in another form.

import {hpaAsVersion1, hpaAsVersion2} from '../hpa-versions.js';
import type {OlderVersion} from '../kind.js';
import type {ApiObject, JsonObject} from '../object.js';
import {horizontalPodAutoscaler} from './horizontalpodautoscaler.js';

const canonical = (object: ApiObject): ApiObject => hpaAsVersion2(object as unknown as JsonObject).document as unknown as ApiObject;

export const horizontalPodAutoscalerV1: OlderVersion = {
	of: horizontalPodAutoscaler,
	kind: {
		...horizontalPodAutoscaler,
		version: 'v1',
		columns: horizontalPodAutoscaler.columns.map(({cell, ...column}) => ({
			...column,
			cell: (object, nowMs) => cell(canonical(object), nowMs),
		})),
	},
	shown: hpaAsVersion1,
	schema: {
		type: 'object',
		description:
			'As many pods as the load needs, by what they use of processors. autoscaling/v2 has the rest, which is in annotations here.',
		properties: {
			apiVersion: {type: 'string', description: 'autoscaling/v1.'},
			kind: {type: 'string', description: 'HorizontalPodAutoscaler.'},
			metadata: {$ref: 'Metadata'},
			spec: {
				type: 'object',
				description: 'What is scaled, between which bounds, by what.',
				properties: {
					scaleTargetRef: {
						type: 'object',
						description: 'What is made larger and smaller.',
						properties: {
							apiVersion: {type: 'string', description: 'Of the target, such as apps/v1.'},
							kind: {type: 'string', description: 'Of the target, such as Deployment.'},
							name: {type: 'string', description: 'Of the target.'},
						},
					},
					minReplicas: {type: 'integer', description: 'The fewest pods; 1 when left out.'},
					maxReplicas: {type: 'integer', description: 'The most pods.'},
					targetCPUUtilizationPercentage: {
						type: 'integer',
						description: 'In percent of what the pods request, on average; 80 when left out.',
					},
				},
			},
			status: {
				type: 'object',
				description: 'What was measured and decided.',
				properties: {
					observedGeneration: {type: 'integer', description: 'The generation of the spec that this is about.'},
					lastScaleTime: {type: 'string', description: 'When it changed something last.'},
					currentReplicas: {type: 'integer', description: 'How many pods there are.'},
					desiredReplicas: {type: 'integer', description: 'How many there are to be.'},
					currentCPUUtilizationPercentage: {type: 'integer', description: 'In percent of what the pods request, on average.'},
				},
			},
		},
	},
};
