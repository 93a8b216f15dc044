import test from 'ava';
import fc from 'fast-check';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {kinds, apiVersionOf} from '../../api/catalogue.js';
import {normalise} from '../../api/dialects/normalise.js';
import {deepEqual, keepReference} from '../../api/equal.js';
import {mergePatch} from '../../api/merge-patch.js';
import {isFilter, isTopic} from '../../api/mqtt-filter.js';
import {may} from '../../api/roles.js';
import {isUserTopic} from '../../api/topics.js';
import {formatSelector, parseSelector} from '../../api/selector-text.js';
import {joinPath, parsePath} from '../../api/path.js';
import {manifests, older} from './_manifests.js';
import {aPod, aReplicaSet, committed} from './_objects.js';

type Json = fc.JsonValue;

/** A manifest of some kind with some part of it replaced by anything. */
function mutated(json: fc.Arbitrary<Json>): fc.Arbitrary<unknown> {
	const bases = fc.constantFrom<unknown>(
		aPod(),
		aReplicaSet(),
		{...aPod(), kind: 'Node'},
		{...aReplicaSet(), apiVersion: 'v1', kind: 'Replicaset'},
		...Object.values(manifests),
		...Object.values(older),
	);
	return fc.tuple(bases, fc.array(fc.nat(8), {maxLength: 7}), json).map(([base, route, value]) => replaced(base, route, value));
}

/** The value with what lies at the end of a route (the nth member of the nth member ...) replaced. */
function replaced(base: unknown, [step, ...rest]: readonly number[], value: Json): unknown {
	if (step === undefined || typeof base !== 'object' || base === null) return value;
	if (Array.isArray(base)) return base.map((item: unknown, i) => (i === step % base.length ? replaced(item, rest, value) : item));
	const members = Object.entries(base);
	if (members.length === 0) return value;
	return Object.fromEntries(members.map(([key, member], i) => [key, i === step % members.length ? replaced(member, rest, value) : member]));
}

const anything = fc.oneof(
	mutated(fc.jsonValue()),
	fc.jsonValue(),
	fc.record({
		apiVersion: fc.constantFrom(...kinds.map(apiVersionOf)),
		kind: fc.constantFrom(...kinds.map(({kind}) => kind)),
		metadata: fc.jsonValue(),
		spec: fc.jsonValue(),
		status: fc.jsonValue(),
	}),
);

test('no JSON makes admission or normalisation throw, and a refusal has a reason', t => {
	const old = committed(aPod());
	t.notThrows(() =>
		fc.assert(
			fc.property(anything, input => {
				for (const outcome of [admitCreate(input), admitUpdate(input, old)]) if (!outcome.ok && outcome.error.message === '') return false;
				const read = normalise(input);
				return read.ok || read.problems.length > 0;
			}),
			{numRuns: 3_000},
		),
	);
});

test('what was admitted once is admitted again, unchanged', t => {
	t.notThrows(() =>
		fc.assert(
			fc.property(mutated(fc.jsonValue()), input => {
				const first = admitCreate(input);
				if (!first.ok) return true;
				const second = admitCreate(first.value);
				return second.ok && deepEqual(second.value, first.value);
			}),
			{numRuns: 1_000},
		),
	);
});

test('a merge patch gives what RFC 7386 says, and the same reference when it changes nothing', t => {
	const reference = (target: unknown, patch: Json): unknown => {
		if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
		const result = new Map(typeof target === 'object' && target !== null && !Array.isArray(target) ? Object.entries(target) : []);
		for (const [key, value] of Object.entries(patch)) {
			if (value === null) result.delete(key);
			else result.set(key, reference(result.get(key), value as Json));
		}
		return Object.fromEntries(result);
	};
	t.notThrows(() =>
		fc.assert(
			fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
				const patched = mergePatch(target, patch);
				return deepEqual(patched, reference(target, patch)) && (patched === target || !deepEqual(patched, target));
			}),
			{numRuns: 1_000},
		),
	);
});

test('keeping references never changes the value', t => {
	t.notThrows(() =>
		fc.assert(
			fc.property(fc.jsonValue(), fc.jsonValue(), (old, value) => {
				const kept = keepReference(old, value);
				return deepEqual(kept, value) && (kept === old) === deepEqual(old, value) && keepReference(old, structuredClone(old)) === old;
			}),
			{numRuns: 1_000},
		),
	);
});

test('a path is read back as it was built', t => {
	t.notThrows(() =>
		fc.assert(
			fc.property(fc.array(fc.oneof(fc.nat(), fc.string({minLength: 1})), {minLength: 1}), keys => {
				const path = keys.reduce<string>(joinPath, '');
				return deepEqual(parsePath(path), keys);
			}),
		),
	);
});

test('a selector text never throws, and what it means is written back the same', t => {
	t.notThrows(() =>
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(!?[a-c](=|==|!=| in \(x,y\)| notin \(x\))?[a-c]?,?){1,4}$/)), text => {
				const parsed = parseSelector(text);
				if (!parsed.ok) return parsed.error.message !== '';
				const again = parseSelector(formatSelector(parsed.value));
				return again.ok && deepEqual(again.value, parsed.value);
			}),
			{numRuns: 2_000},
		),
	);
});

test('no topic makes the roles throw, and outside the prefix nothing is allowed but the topics of users to admins', t => {
	fc.assert(
		fc.property(fc.string(), fc.constantFrom('publish', 'forward'), fc.constantFrom('admin', 'node', 'tool'), (topic, verb, role) => {
			const identity = {name: 'a', role, node: role === 'node' ? 'a' : undefined} as const;
			may(identity, 'subscribe', topic);
			const isOurs = role === 'admin' && isUserTopic(topic);
			return topic.startsWith('troupe/v1/') || isOurs || !may(identity, verb, topic);
		}),
	);
	t.notThrows(() => fc.assert(fc.property(fc.string(), text => !isTopic(text) || isFilter(text))));
});
