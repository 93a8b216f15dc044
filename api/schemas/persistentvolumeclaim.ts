// The schema of a PersistentVolumeClaim.

import {objectWith} from './metadata.js';
import {about, conditions, list, mapOf, oneOf, optional, quantity, record, selector, text} from './parts.js';

export const accessModes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'] as const;

const amounts = () => mapOf(quantity());

export const spec = () =>
	record(
		{
			accessModes: about('Who may use it at once: ReadWriteOnce is one node, ReadWriteOncePod one pod.', list(oneOf(accessModes))),
			resources: about(
				'How large it has to be.',
				record({
					requests: optional(about('storage: at least so much.', amounts())),
					limits: optional(about('storage: at most so much.', amounts())),
				}),
			),
			storageClassName: optional(
				about('local (the default): a folder on the node of its first pod. Another one, or an empty one: a volume that is there.', text()),
			),
			volumeName: optional(about('The volume it is bound to, or is to be.', text())),
			selector: optional(about('Of which volumes it may get one, by labels.', selector())),
			volumeMode: optional(about('Filesystem, the default.', oneOf(['Filesystem']))),
		},
		{'x-not-yet': ['dataSource', 'dataSourceRef', 'volumeAttributesClassName']},
	);

export const status = () =>
	record({
		phase: about('Pending, Bound or Lost.', oneOf(['Pending', 'Bound', 'Lost'])),
		accessModes: optional(about('Those of its volume.', list(oneOf(accessModes)))),
		capacity: optional(about('How large its volume is.', amounts())),
		used: optional(about('storage: what its volume takes of the disk, as its node counted last. No field of Kubernetes.', amounts())),
		conditions: optional(about('What holds of it: StorageExceeded.', conditions())),
	});

export const schema = () => objectWith(about('What it asks for.', spec()));
