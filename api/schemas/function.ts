// The schema of a Function.

import {limits} from '../limits.js';
import {envFrom, envVar, resources} from './container.js';
import {objectWith} from './metadata.js';
import {about, conditions, count, list, maxInt32, mergedBy, oneOf, optional, record, someOf, text, whole} from './parts.js';
import {triggerParts} from './trigger.js';

const trigger = () =>
	record({
		...triggerParts({
			name: 'What its deliveries are counted and shown under.',
			params: 'What the function gets at these times, as JSON; {} when left out.',
		}),
		retries: optional(about('How often a delivery that failed is tried again; 5 when left out.', whole(0, limits.deliveryRetriesMost))),
		deadLetterTopic: optional(about('The MQTT topic that gets what could not be delivered.', text())),
	});

const share = () =>
	record({
		revision: optional(
			about('A version, by the number that troupe rollout history shows; the newest one when left out.', whole(1, maxInt32)),
		),
		weight: optional(
			about(
				'Its share of the calls that no match takes: weight / sum of all. 1 when left out, 0 for one with a match.',
				whole(0, limits.routeWeight),
			),
		),
		match: optional(
			about(
				'It takes all calls that fulfil this; the first in the list wins.',
				record({
					header: about(
						'A header; one that only has to be there where nothing else is said.',
						record({
							name: about('Its name.', text()),
							exact: optional(about('The whole of it, letter by letter.', text())),
							prefix: optional(about('Its beginning.', text())),
						}),
					),
				}),
			),
		),
	});

export const spec = () =>
	record({
		userUploadFilePath: optional(
			about('The folder with func.py (or func.mjs, func.js, or a program), beside the manifest: `troupe apply` uploads it.', text()),
		),
		artifact: optional(about('The uploaded code, sha256:...; `troupe apply` sets it.', text())),
		runtime: optional(about('python or nodejs; `troupe apply` sets what the files say.', oneOf(['python', 'nodejs']))),
		command: optional(
			about(
				'A program that speaks HTTP at $PORT, in place of a runtime; it begins in the folder. $(NAME) stands for a variable.',
				list(text()),
			),
		),
		image: optional(about('What its instances are containers of; they are pods of class docker then.', text())),
		runtimeClassName: optional(
			about('process or docker; docker beside an image, else process, when left out.', oneOf(['process', 'docker'])),
		),
		concurrency: optional(about('Calls that one instance takes at a time; 10 when left out.', whole(1, limits.functionConcurrency))),
		min: optional(
			about(
				'Instances there are at least, also where nobody calls; none when left out. An autoscaler sets it.',
				whole(0, limits.functionInstances),
			),
		),
		max: optional(about('Instances at most; 10 when left out.', whole(1, limits.functionInstances))),
		idle: optional(about('How long instances stay without a call, such as 30s or 5m; 60s when left out.', text())),
		timeout: optional(about('What one call may take, such as 30s or 5m; 30s when left out.', text())),
		env: optional(about('Variables of its instances, in order.', list(envVar(), mergedBy('name')))),
		envFrom: optional(about('Variables for all entries of ConfigMaps and Secrets.', list(envFrom()))),
		resources: optional(about('What each instance needs and may use.', resources())),
		triggers: optional(about('What calls it besides its callers.', list(trigger(), mergedBy('name')))),
		traffic: optional(about('Which versions are called, instead of the newest one alone.', someOf(share()))),
		revisionHistoryLimit: optional(about('How many older versions are kept; 10 when left out.', count())),
	});

export const status = () =>
	record({
		observedGeneration: optional(about('The generation of the spec that this is about.', count())),
		revision: optional(about('The version that new instances are of; none before the first call.', count())),
		desired: optional(about('Instances that its calls need.', count())),
		instances: optional(about('Instances there are.', count())),
		ready: optional(about('Those that take calls.', count())),
		demands: optional(
			about(
				'What the calls of versions need that traffic names by their number, or that are apart.',
				list(record({revision: about('The version.', count()), desired: about('Instances that its calls need.', count())})),
			),
		),
		apart: optional(about('Older versions that are called only by runs of workflows that began with them.', list(count()))),
		updated: optional(about('Of these, those of the newest version.', count())),
		conditions: optional(conditions()),
	});

export const schema = () => objectWith(about('Where the code is, and how it is run.', spec()));
