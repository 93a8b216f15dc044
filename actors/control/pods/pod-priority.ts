// The priority of a new pod, from the class that it names, and the classes. After Kubernetes' Priority admission: what the class says by then stays with the pod.

import {failed, type Outcome} from '../../../api/errors.js';
import {objectKey} from '../../../api/keys.js';
import type {PriorityClass} from '../../../api/kinds/priorityclass.js';
import type {Draft} from '../../../api/object.js';
import {membersOf, textOf} from '../../../api/rules/report.js';
import {shown} from '../../../api/shown.js';
import {didYouMean} from '../../../api/suggest.js';
import type {Known} from '../../../system/index/object-index.js';
import {idle, type Controller} from '../objects/controller.js';

/** The draft with its priority, or why it cannot have the one that it asks for. A field of another type than it has to be is left to admission. */
export function withPriority(draft: Draft, known: Known): Outcome<Draft> {
	const spec = membersOf(draft.spec);
	const named = textOf(spec['priorityClassName']) ?? '';
	const found =
		named === '' ? defaultClass(known) : (known.get(objectKey('priorityclasses', undefined, named)) as PriorityClass | undefined);
	if (named !== '' && found === undefined)
		return refused(draft, `there is no PriorityClass ${shown(named)}${didYouMean(named, classNames(known))}`);
	const {priority, preemptionPolicy} = spec;
	const value = found?.value ?? 0;
	if (typeof priority === 'number' && priority !== value)
		return refused(draft, `spec.priority is set by the PriorityClass and not by hand: it would be ${value}, got ${priority}`);
	if (found === undefined) return {ok: true, value: draft};
	const policy = found.preemptionPolicy ?? 'PreemptLowerPriority';
	if (typeof preemptionPolicy === 'string' && preemptionPolicy !== policy)
		return refused(
			draft,
			`spec.preemptionPolicy is set by the PriorityClass ${shown(found.metadata.name)}: it is ${policy}, got ${preemptionPolicy}`,
		);
	return {ok: true, value: {...draft, spec: {...spec, priorityClassName: found.metadata.name, priority: value, preemptionPolicy: policy}}};
}

const classesOf = (known: Known): readonly PriorityClass[] => [...known.list('priorityclasses')] as PriorityClass[];

const classNames = (known: Known): readonly string[] => classesOf(known).map(({metadata}) => metadata.name);

/** The lowest, should several classes say that they are the default. */
const defaultClass = (known: Known): PriorityClass | undefined =>
	classesOf(known)
		.filter(({globalDefault}) => globalDefault === true)
		.sort((a, b) => a.value - b.value)[0];

/** There is one default: a second one is refused. */
export function withoutSecondDefault(draft: Draft, known: Known): Outcome<Draft> {
	const present = (draft as Draft & Partial<PriorityClass>).globalDefault === true ? defaultClass(known) : undefined;
	if (present === undefined || present.metadata.name === draft.metadata.name) return {ok: true, value: draft};
	const message = `priorityclasses.scheduling.k8s.io ${shown(draft.metadata.name)} is forbidden: ${shown(present.metadata.name)} is the default already`;
	return failed('ERR_FORBIDDEN', {message});
}

/** Nothing follows from a PriorityClass by itself: a pod takes over what it says when it is made. */
export const priorityClassController: Controller = {...idle('priorityclasses'), prepare: withoutSecondDefault};

const refused = ({metadata: {name, generateName}}: Draft, message: string): Outcome<Draft> =>
	failed('ERR_FORBIDDEN', {message: `pods ${shown(name ?? generateName ?? '')} is forbidden: ${message}`});
