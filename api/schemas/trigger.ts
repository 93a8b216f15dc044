// What triggers of Functions and of Workflows have in common: a name, and messages, times or changes of objects.

import {about, oneOf, optional, record, selector, someOf, text} from './parts.js';

/** `words` say what the name of a trigger and its params are for. */
export const triggerParts = (words: {readonly name: string; readonly params: string}) => ({
	name: about(words.name, text()),
	topic: optional(about('Messages of MQTT topics that this filter matches, such as sensors/+/temperature.', text())),
	schedule: optional(about('Times, as of a CronJob: */5 * * * *.', text())),
	timeZone: optional(about('Where the schedule is meant; UTC when left out.', text())),
	params: optional(about(words.params, text())),
	objects: optional(
		about(
			'Changes of objects of the same namespace.',
			record({
				kind: about('Their kind, such as Pod; with its group where several have one of that name: deployments.apps.', text()),
				selector: optional(about('Labels that they have; all objects of the kind when left out.', selector())),
				changes: optional(about('Which changes; all when left out.', someOf(oneOf(['created', 'updated', 'deleted'])))),
			}),
		),
	),
});
