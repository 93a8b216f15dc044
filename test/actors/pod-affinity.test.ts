// Near to some pods and away from others: what pods that are there, and those about to be, mean for one more.

import test from 'ava';
import type {Pod, PodSpec} from '../../api/kinds/pod.js';
import type {PodAffinityTerm} from '../../api/shapes/pod.js';
import {labelled, where, wheres, type World} from './_scheduling.js';
import {aPod, now} from './_objects.js';

const term = (app: string, topologyKey = 'zone', more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
	labelSelector: {matchLabels: {app}},
	topologyKey,
	...more,
});
const near = (...terms: readonly PodAffinityTerm[]): Partial<PodSpec> => ({
	affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: terms}},
});
const away = (...terms: readonly PodAffinityTerm[]): Partial<PodSpec> => ({
	affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: terms}},
});
const of = (app: string, name: string, spec: Partial<PodSpec> = {}, namespace = 'default'): Pod =>
	aPod({name, metadata: {labels: {app}, namespace}, spec});

const nodes = labelled({a1: {zone: 'a', host: 'a1'}, a2: {zone: 'a', host: 'a2'}, b1: {zone: 'b', host: 'b1'}, bare: {}});
const there = (...pods: readonly Pod[]): World => ({nodes, pods});
const noneThere = 'no pod of its pod affinity is there';

test('a pod goes where each of its terms has a pod', t => {
	t.is(where(of('web', 'w', near(term('db'))), there(of('db', 'd', {nodeName: 'b1'}))), 'b1');
	t.is(
		where(of('web', 'w', near(term('db'))), there()),
		`0/4 nodes fit: a1: ${noneThere}; a2: ${noneThere}; b1: ${noneThere}; bare: has not the label of its pod affinity`,
	);
	// Only a pod that all terms name counts.
	const both = near(term('db'), term('db', 'host', {labelSelector: {matchLabels: {tier: 'back'}}}));
	const back = aPod({name: 'x', metadata: {labels: {app: 'db', tier: 'back'}}, spec: {nodeName: 'a2'}});
	t.is(where(of('web', 'w', both), there(of('db', 'd', {nodeName: 'b1'}), back)), 'a2');
});

test('the first pod of a group that wants to be together goes anywhere, the others to it', t => {
	const group = [1, 2, 3].map(n => of('web', `w${n}`, near(term('web', 'host'))));
	t.deepEqual(wheres(group, there(of('db', 'd', {nodeName: 'a1'}))), ['a2', 'a2', 'a2']);
	t.regex(where(of('web', 'w', near(term('web', 'rack'))), there()), /a1: has not the label/);
});

test('what every JavaScript object has is no label of a node', t => {
	t.regex(where(of('web', 'w', near(term('web', 'constructor'))), there()), /a1: has not the label/);
	t.is(where(of('web', 'w', away(term('web', 'constructor'))), {nodes: nodes.slice(0, 1), pods: [of('web', 'x', {nodeName: 'a1'})]}), 'a1');
});

test('a pod keeps away from those of its anti-affinity, and they from it, in whatever order they came', t => {
	t.is(where(of('web', 'w', away(term('db'))), there(of('db', 'd', {nodeName: 'a1'}))), 'b1');
	t.is(where(of('web', 'w'), there(of('db', 'd', {nodeName: 'a1', ...away(term('web'))}))), 'b1');
	t.regex(
		where(of('web', 'w'), {nodes: nodes.slice(0, 2), pods: [of('db', 'd', {nodeName: 'a1', ...away(term('web'))})]}),
		/a2: the anti-affinity of a pod there keeps it away/,
	);
	t.regex(
		where(of('web', 'w', away(term('web'))), {nodes: nodes.slice(0, 2), pods: [of('web', 'x', {nodeName: 'a1'})]}),
		/a2: a pod of its anti-affinity is there/,
	);
});

test('within one cycle they keep away as well, and from binds that are only asked for', t => {
	const group = [1, 2, 3].map(n => of('web', `w${n}`, away(term('web'))));
	const placed = wheres(group, {nodes: nodes.slice(0, 3)});
	t.deepEqual(placed.slice(0, 2), ['a1', 'b1']);
	t.regex(placed[2] ?? '', /^0\/3 nodes fit/);
	t.is(where(of('web', 'w'), {nodes: nodes.slice(0, 3), asked: [[of('web', 'x', away(term('web'))), 'a1']]}), 'b1');
	// One that keeps others away comes when the class of the others has been made already.
	const late = wheres([of('web', 'one'), of('db', 'd', away(term('web'))), of('web', 'two')], {nodes: nodes.slice(0, 3)});
	t.deepEqual(late, ['a1', 'b1', 'a2']);
});

test('a term looks into the namespaces that it names, else into its own; without a selector it names no pod', t => {
	const other = of('db', 'd', {nodeName: 'b1'}, 'shop');
	t.regex(where(of('web', 'w', near(term('db'))), there(other)), /^0\/4/);
	t.is(where(of('web', 'w', near(term('db', 'zone', {namespaces: ['shop']}))), there(other)), 'b1');
	t.regex(where(of('web', 'w', near({topologyKey: 'zone'})), there(of('db', 'd', {nodeName: 'b1'}))), /^0\/4/);
	t.is(where(of('web', 'w'), there(of('db', 'd', {nodeName: 'a1', ...away(term('web'))}, 'shop'))), 'a2');
});

test('pods that are over are nowhere', t => {
	const over = aPod({name: 'd', metadata: {labels: {app: 'db'}}, spec: {nodeName: 'a1'}, status: {phase: 'Succeeded'}});
	t.is(where(of('web', 'w', away(term('db'))), there(over)), 'a1');
	const ending = aPod({name: 'd', metadata: {labels: {app: 'db'}, deletionTimestamp: now}, spec: {nodeName: 'a1'}});
	t.is(where(of('web', 'w', away(term('db'))), there(ending)), 'b1');
});

test('preferred terms draw nearer and push away, as their weights are', t => {
	const preferred = (weight: number, podAffinityTerm: PodAffinityTerm) => ({weight, podAffinityTerm});
	const pod = of('web', 'w', {
		affinity: {
			podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [preferred(10, term('db', 'host'))]},
			podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [preferred(5, term('web', 'host'))]},
		},
	});
	const pods = [of('db', 'd', {nodeName: 'b1'})];
	t.is(where(pod, {nodes, pods}), 'b1');
	t.is(where(pod, {nodes, pods: [...pods, of('web', 'x', {nodeName: 'b1'})]}), 'b1');
	t.is(where(pod, {nodes, pods: [of('web', 'x', {nodeName: 'a1'})]}), 'a2');
});
