// The schema of a ResourceQuota.

import {objectWith} from './metadata.js';
import {about, list, mapOf, oneOf, optional, quantity, record, text} from './parts.js';

const scope = () => oneOf(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'PriorityClass']);

export const scopeRequirement = () =>
	record({
		scopeName: about('Which property of a pod.', scope()),
		operator: about(
			'In, NotIn, Exists or DoesNotExist; only PriorityClass takes others than Exists.',
			oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist']),
		),
		values: optional(about('Of In and NotIn.', list(text()))),
	});

export const spec = () =>
	record({
		hard: optional(
			about('How much there may be of each resource, such as pods, requests.cpu or count/deployments.apps.', mapOf(quantity())),
		),
		scopes: optional(about('Only pods that have all of these properties count. They stay as they are.', list(scope()))),
		scopeSelector: optional(
			about(
				'Further demands on the pods that count. They stay as they are.',
				record({matchExpressions: optional(about('All of them must hold.', list(scopeRequirement())))}),
			),
		),
	});

export const status = () =>
	record({
		hard: optional(about('What is enforced.', mapOf(quantity()))),
		used: optional(about('How much of it there is.', mapOf(quantity()))),
	});

export const schema = () => objectWith(about('How much a namespace may hold and ask for.', spec()));
