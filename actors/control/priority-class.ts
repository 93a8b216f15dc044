// The record of a PriorityClass. Nothing follows from it by itself: a pod takes over what it says when it is made.

import {systemPriorities, type PriorityClass} from '../../api/kinds/priorityclass.js';
import {controller} from './objects/controller.js';

export const priorityClassController = controller<PriorityClass>({
	plural: 'priorityclasses',
	reconcile: () => ({effects: []}),
	refuseDeletion: ({metadata: {name}}) =>
		systemPriorities.has(name) ? `priorityclasses "${name}" is forbidden: every cluster has it` : undefined,
});
