// The schema of a Workflow.

import {objectWith} from './metadata.js';
import {about, anyObject, conditions, list, mergedBy, oneOf, optional, record, seconds, text, whole} from './parts.js';
import {triggerParts} from './trigger.js';

const generation = () => whole(0, Number.MAX_SAFE_INTEGER);

const trigger = () =>
	record({
		...triggerParts({
			name: 'What the runs that it starts are called and labelled by.',
			params: 'Input of the runs that begin at these times, as JSON; {} when left out.',
		}),
		concurrencyPolicy: optional(
			about(
				'Whether a run may begin beside one that this trigger has started, or none does; Allow when left out.',
				oneOf(['Allow', 'Forbid']),
			),
		),
	});

export const spec = () =>
	record({
		definition: about('Its states, in the Amazon States Language.', anyObject()),
		params: optional(
			about('Input of a run that the cluster starts when this is made, and when it is changed; without it none is started.', anyObject()),
		),
		triggers: optional(about('What starts runs of it.', list(trigger(), mergedBy('name')))),
		ttlSecondsAfterFinished: optional(about('Its runs are deleted so long after their end; a week when left out.', seconds())),
	});

export const status = () =>
	record({
		observedGeneration: optional(about('The generation that was looked at.', generation())),
		revision: optional(about('The number of its definition among those that it had.', generation())),
		revisionName: optional(about('The ControllerRevision that has its definition.', text())),
		startedGeneration: optional(about('The generation whose params a run was started with.', generation())),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('Tasks, and in which order and under which conditions they are done.', spec()));
