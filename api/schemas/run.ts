// The schema of a Run.

import {objectWith} from './metadata.js';
import {about, anyJson, conditions, count, flag, list, oneOf, optional, record, seconds, text} from './parts.js';

export const spec = () =>
	record({
		workflow: about('The Workflow that it is a run of, of the same namespace.', text()),
		input: optional(about('What it begins with: any JSON; {} when left out.', anyJson())),
		startAt: optional(about('The state that it begins with, one of the outermost; that of the definition when left out.', text())),
		suspend: optional(about('Whether no further state begins. What is under way goes on, and its answers are taken.', flag())),
		cancel: optional(about('Ends it. This cannot be taken back.', flag())),
		ttlSecondsAfterFinished: optional(about('It is deleted so long after its end; as its Workflow says when left out.', seconds())),
	});

export const status = () =>
	record({
		phase: optional(about('How it is.', oneOf(['Pending', 'Running', 'Suspended', 'Succeeded', 'Failed', 'Cancelled']))),
		revisionName: optional(about('The ControllerRevision that has the definition by which it goes.', text())),
		functions: optional(
			about(
				'The functions that its Tasks name, in the versions with which it began.',
				list(
					record({
						function: about('Its namespace and name, NAMESPACE/NAME.', text()),
						version: about('A word for what its instances are made from.', text()),
					}),
				),
			),
		),
		startTime: optional(about('When it began.', text())),
		completionTime: optional(about('When it ended.', text())),
		steps: optional(about('How many steps are committed; what is committed together is one.', count())),
		history: optional(
			about(
				'How much of them its history has, which is bounded.',
				record({records: about('How many records.', count()), bytes: about('How many bytes these are.', count())}),
			),
		),
		at: optional(
			about(
				'The states that are under way, by name; of many the first.',
				list(record({state: about('Its name.', text()), count: about('How often it is under way.', count())})),
			),
		),
		output: optional(about('What it came to, when it succeeded: any JSON.', anyJson())),
		error: optional(
			about('Why it failed.', record({error: about('The name of the error.', text()), cause: about('The same in words.', text())})),
		),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('One run of a Workflow.', spec()));
