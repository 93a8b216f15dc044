// A namespace being deleted stays until nothing is left in it; what is in it deletes itself when it sees that.

import type {Namespace} from '../../../api/kinds/namespace.js';
import type {Condition} from '../../../api/object.js';
import {controller} from '../objects/controller.js';
import {isDeleting} from '../objects/garbage.js';

export const namespaceController = controller<Namespace>({
	plural: 'namespaces',
	reconcile: (namespace, {known}) => {
		if (!isDeleting(namespace)) return {effects: []};
		const left = known.countInNamespace(namespace.metadata.name);
		return {status: {...namespace.status, phase: 'Terminating', ...contentLeft(left)}, effects: []};
	},
	isRemovable: ({metadata}, known) => known.countInNamespace(metadata.name) === 0,
});

/** The number is left out: it would make a write of every object that goes. */
const contentLeft = (left: number): {readonly conditions?: readonly Condition[]} => (left === 0 ? {} : {conditions: [contentRemaining]});

const contentRemaining: Condition = {
	type: 'NamespaceContentRemaining',
	status: 'True',
	reason: 'SomeResourcesRemain',
	message: 'objects in the namespace are being deleted',
};
