// The schema of a pod's affinity.

import {about, list, oneOf, optional, record, selector, text, whole} from './parts.js';

export const requirement = () =>
	record({
		key: about('The label, or the field.', text()),
		operator: about(
			'In, NotIn, Exists, DoesNotExist, or Gt and Lt for whole numbers.',
			oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
		),
		values: optional(about('Of all operators but Exists and DoesNotExist.', list(text()))),
	});

export const nodeTerm = () =>
	record({
		matchExpressions: optional(about('Demands on labels of the node; all must hold.', list(requirement()))),
		matchFields: optional(about('The same on metadata.name.', list(requirement()))),
	});

const weight = () => whole(1, 100);

export const nodeAffinity = () =>
	record({
		requiredDuringSchedulingIgnoredDuringExecution: optional(
			about('What a node must have.', record({nodeSelectorTerms: about('One of them must hold.', list(nodeTerm()))})),
		),
		preferredDuringSchedulingIgnoredDuringExecution: optional(
			about(
				'What a node had better have.',
				list(record({weight: about('How much, from 1 to 100.', weight()), preference: about('What.', nodeTerm())})),
			),
		),
	});

export const podTerm = () =>
	record(
		{
			labelSelector: optional(about('Which pods.', selector())),
			namespaces: optional(about('In which namespaces; its own when left out.', list(text()))),
			topologyKey: about('The label of nodes that says what counts as together.', text()),
		},
		{'x-not-yet': ['matchLabelKeys', 'mismatchLabelKeys', 'namespaceSelector']},
	);

export const podAffinity = () =>
	record({
		requiredDuringSchedulingIgnoredDuringExecution: optional(about('What must hold, all of it.', list(podTerm()))),
		preferredDuringSchedulingIgnoredDuringExecution: optional(
			about(
				'What had better hold.',
				list(record({weight: about('How much, from 1 to 100.', weight()), podAffinityTerm: about('What.', podTerm())})),
			),
		),
	});

export const affinity = () =>
	record({
		nodeAffinity: optional(about('Which nodes.', nodeAffinity())),
		podAffinity: optional(about('Beside which pods.', podAffinity())),
		podAntiAffinity: optional(about('Away from which pods.', podAffinity())),
	});
