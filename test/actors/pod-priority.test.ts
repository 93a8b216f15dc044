// What a pod gets from its PriorityClass when it is made, and which it cannot have.

import test from 'ava';
import {admitUpdate} from '../../api/admission.js';
import {withoutSecondDefault, withPriority} from '../../actors/control/pods/pod-priority.js';
import type {ApiObject, Draft} from '../../api/object.js';
import type {Pod, PodSpec} from '../../api/kinds/pod.js';
import {aContainer, aPod, aPriorityClass, indexOf} from './_objects.js';

const draft = (spec: Partial<PodSpec> = {}): Draft => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'web'},
	spec: {containers: [aContainer()], ...spec},
});
const high = aPriorityClass('high', 1000);
const quiet = aPriorityClass('quiet', -5, {preemptionPolicy: 'Never'});

function specOf(spec: Partial<PodSpec>, ...classes: readonly ApiObject[]): unknown {
	const outcome = withPriority(draft(spec), indexOf(...classes));
	if (!outcome.ok) return outcome.error.message;
	const {priorityClassName, priority, preemptionPolicy} = outcome.value.spec as PodSpec;
	return [priorityClassName, priority, preemptionPolicy];
}

test('a pod has the priority and the policy of its class', t => {
	t.deepEqual(specOf({priorityClassName: 'high'}, high, quiet), ['high', 1000, 'PreemptLowerPriority']);
	t.deepEqual(specOf({priorityClassName: 'quiet', priority: -5}, high, quiet), ['quiet', -5, 'Never']);
});

test('a pod that names none has that of the default, or stays as it is', t => {
	t.deepEqual(specOf({}, high, aPriorityClass('usual', 10, {globalDefault: true})), ['usual', 10, 'PreemptLowerPriority']);
	const pod = draft();
	const outcome = withPriority(pod, indexOf(high));
	t.true(outcome.ok && outcome.value === pod);
});

test('a class that is not there is refused, with the one that may be meant', t => {
	t.is(specOf({priorityClassName: 'hihg'}, high), 'pods "web" is forbidden: there is no PriorityClass "hihg"; did you mean "high"?');
	t.is(specOf({priorityClassName: 'x'}), 'pods "web" is forbidden: there is no PriorityClass "x"');
});

test('a priority or policy set by hand that differs is refused', t => {
	t.is(specOf({priority: 7}), 'pods "web" is forbidden: spec.priority is set by the PriorityClass and not by hand: it would be 0, got 7');
	t.regex(String(specOf({priorityClassName: 'high', priority: 999}, high)), /it would be 1000, got 999/);
	t.regex(
		String(specOf({priorityClassName: 'quiet', preemptionPolicy: 'PreemptLowerPriority'}, quiet)),
		/set by the PriorityClass "quiet": it is Never, got PreemptLowerPriority/,
	);
});

test('there is one default class', t => {
	const wanted = aPriorityClass('b', 1, {globalDefault: true}) as unknown as Draft;
	const second = withoutSecondDefault(wanted, indexOf(aPriorityClass('a', 2, {globalDefault: true})));
	t.is(second.ok ? '' : second.error.message, 'priorityclasses.scheduling.k8s.io "b" is forbidden: "a" is the default already');
	t.true(withoutSecondDefault(wanted, indexOf(high)).ok);
});

test('a pod that is written again by a client that does not know its priority keeps it', t => {
	const old = aPod({spec: {priorityClassName: 'high', priority: 1000, preemptionPolicy: 'PreemptLowerPriority'}});
	const {priority: _p, preemptionPolicy: _q, ...spec} = old.spec as PodSpec;
	const outcome = admitUpdate({...old, spec}, old);
	t.is(outcome.ok ? '' : outcome.error.message, '');
	t.is((outcome.ok ? (outcome.value as unknown as Pod) : undefined)?.spec?.priority, 1000);
	const other = admitUpdate({...old, spec: {...old.spec, priority: 5}}, old);
	t.regex(other.ok ? '' : other.error.message, /spec\.priority: cannot be changed/);
});
