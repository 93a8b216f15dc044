// The committed objects, and the ways to find them. Written by the commit pipeline alone, in order of version.

import {clusterScope, parseObjectKey, type ObjectKey} from '../../api/keys.js';
import type {ApiObject, Json} from '../../api/object.js';
import {matches, type LabelSelector} from '../../api/selector.js';
import {Parts} from './parts.js';

/** One committed object with its serialised form, made once per revision. */
export type Entry = {
	readonly key: ObjectKey;
	readonly object: ApiObject;
	/** The bytes of store, topic, list and watch alike. */
	readonly json: () => string;
	readonly version: number;
	/** The version of the previous change in the same plural and namespace; 0 for the first since the start. */
	readonly previous: number;
};

/** One committed change, as the ring, topics, node sync and wakes get it. */
export type Change = {
	readonly key: ObjectKey;
	readonly version: number;
	readonly previous: number;
	readonly before: Entry | undefined;
	/** Undefined: removed. */
	readonly after: Entry | undefined;
	/** The record of the object's history that came with it. */
	readonly history?: {readonly number: number; readonly value: Json};
};

/** The read-only view that behaviours get. */
export type Known = {
	/** Of the newest change. */
	readonly version: number;
	readonly get: (key: ObjectKey) => ApiObject | undefined;
	readonly byUid: (uid: string) => ApiObject | undefined;
	/** Objects one of whose owner references names this uid. */
	readonly byOwner: (uid: string) => Iterable<ApiObject>;
	/** Objects of one kind, of one namespace if given. */
	readonly list: (plural: string, namespace?: string) => Iterable<ApiObject>;
	/** Objects of one kind and namespace that match. */
	readonly select: (plural: string, namespace: string, selector: LabelSelector) => Iterable<ApiObject>;
	/** Objects filed under a term that the kind's `terms` gave them, such as `node=node-a`. */
	readonly byTerm: (plural: string, term: string) => Iterable<ApiObject>;
	readonly countByTerm: (plural: string, term: string) => number;
	/** The sum of the amounts that objects of the kind have under a term. */
	readonly sumByTerm: (plural: string, term: string) => number;
	/** How many objects of a kind a namespace holds. */
	readonly countOf: (plural: string, namespace: string) => number;
	/** How many objects a namespace holds. */
	readonly countInNamespace: (namespace: string) => number;
	readonly inNamespace: (namespace: string) => Iterable<ApiObject>;
	/** A part of an object, and all parts of it by name. */
	readonly part: (key: ObjectKey, name: string) => Json | undefined;
	readonly partsOf: (key: ObjectKey) => ReadonlyMap<string, Json>;
};

/** An amount that the index adds up over all objects which name the term; whole numbers, so that nothing is lost on the way. */
export type Amount = {readonly term: string; readonly amount: number};

/** A term under which an object is filed, or an amount of it that is added up. */
export type Filing = string | Amount;

/** Further terms under which an object is filed, by plural: what a kind's own look-ups need. */
export type TermsOf = (plural: string, object: ApiObject) => readonly Filing[];

class Postings {
	readonly #sets = new Map<string, Set<ObjectKey>>();

	add(term: string, key: ObjectKey): void {
		const set = this.#sets.get(term);
		if (set === undefined) this.#sets.set(term, new Set([key]));
		else set.add(key);
	}

	remove(term: string, key: ObjectKey): void {
		const set = this.#sets.get(term);
		if (set?.delete(key) === true && set.size === 0) this.#sets.delete(term);
	}

	get(term: string): ReadonlySet<ObjectKey> {
		return this.#sets.get(term) ?? none;
	}
}

const none: ReadonlySet<ObjectKey> = new Set();

/** Half of the bits of a whole number. */
const part = 2 ** 32;

/** Of whole numbers, in two parts: nothing is lost of many large ones either, and what all of them leave is nothing. */
class Sums {
	readonly #sums = new Map<string, {readonly high: number; readonly low: number}>();

	add(term: string, amount: number): void {
		const sum = this.#sums.get(term);
		const rounded = Math.trunc(amount / part);
		const [high, low] = [(sum?.high ?? 0) + rounded, (sum?.low ?? 0) + amount - rounded * part];
		if (high === 0 && low === 0) this.#sums.delete(term);
		else this.#sums.set(term, {high, low});
	}

	get(term: string): number {
		const sum = this.#sums.get(term);
		return sum === undefined ? 0 : sum.high * part + sum.low;
	}
}

const pluralTerm = (plural: string): string => `p|${plural}`;
const scopeTerm = (plural: string, namespace: string): string => `s|${plural}|${namespace}`;
const namespaceTerm = (namespace: string): string => `n|${namespace}`;
const ownerTerm = (uid: string): string => `o|${uid}`;
const labelTerm = (plural: string, namespace: string, label: string, value: string): string => `l|${plural}|${namespace}|${label}=${value}`;
const kindTerm = (plural: string, term: string): string => `t|${plural}|${term}`;

export class ObjectIndex implements Known {
	readonly #entries = new Map<ObjectKey, Entry>();
	readonly #uids = new Map<string, ObjectKey>();
	readonly #postings = new Postings();
	readonly #sums = new Sums();
	readonly #lastInScope = new Map<string, number>();
	readonly #termsOf: TermsOf;
	/** What is kept beside the objects. */
	readonly parts = new Parts();
	#version = 0;

	constructor(termsOf: TermsOf = () => []) {
		this.#termsOf = termsOf;
	}

	/** The version of the newest change that was applied. */
	get version(): number {
		return this.#version;
	}

	get size(): number {
		return this.#entries.size;
	}

	/** Takes a snapshot in at start; no change is reported. */
	load(key: ObjectKey, object: ApiObject, json: () => string): void {
		const version = Number(object.metadata.resourceVersion);
		this.#put({key, object, json, version, previous: 0});
		this.#version = Math.max(this.#version, version);
	}

	/** The counter as the store knows it: a write that removed an object, or one of events, moved it too. */
	advance(version: number): void {
		this.#version = Math.max(this.#version, version);
	}

	/** Takes one committed write; the only way the index changes after the start. */
	apply(key: ObjectKey, version: number, object: ApiObject | undefined, json: () => string): Change {
		const before = this.#entries.get(key);
		const {plural, namespace} = parseObjectKey(key);
		const scope = scopeTerm(plural, namespace);
		const previous = this.#lastInScope.get(scope) ?? 0;
		const after: Entry | undefined = object === undefined ? undefined : {key, object, json, version, previous};
		if (after === undefined && before !== undefined) this.#drop(before);
		else if (after !== undefined && before !== undefined) this.#replace(before, after);
		else if (after !== undefined) this.#put(after);
		this.#lastInScope.set(scope, version);
		this.#version = version;
		return {key, version, previous, before, after};
	}

	entry(key: ObjectKey): Entry | undefined {
		return this.#entries.get(key);
	}

	/** Entries of one kind, of one namespace if given, in key order. */
	entries(plural: string, namespace?: string): Entry[] {
		const keys = this.#postings.get(namespace === undefined ? pluralTerm(plural) : scopeTerm(plural, namespace));
		const found: Entry[] = [];
		for (const key of keys) {
			const entry = this.#entries.get(key);
			if (entry !== undefined) found.push(entry);
		}
		return found.sort((a, b) => (a.key < b.key ? -1 : 1));
	}

	/** Every entry, in no order. */
	all(): Iterable<Entry> {
		return this.#entries.values();
	}

	get(key: ObjectKey): ApiObject | undefined {
		return this.#entries.get(key)?.object;
	}

	byUid(uid: string): ApiObject | undefined {
		const key = this.#uids.get(uid);
		return key === undefined ? undefined : this.get(key);
	}

	byOwner(uid: string): Iterable<ApiObject> {
		return this.#objects(this.#postings.get(ownerTerm(uid)));
	}

	list(plural: string, namespace?: string): Iterable<ApiObject> {
		return this.#objects(this.#postings.get(namespace === undefined ? pluralTerm(plural) : scopeTerm(plural, namespace)));
	}

	*select(plural: string, namespace: string, selector: LabelSelector): Iterable<ApiObject> {
		// The smallest posting of the equality terms is looked through; without one, the whole namespace.
		let candidates = this.#postings.get(scopeTerm(plural, namespace));
		for (const [label, value] of Object.entries(selector.matchLabels ?? {})) {
			const posting = this.#postings.get(labelTerm(plural, namespace, label, value));
			if (posting.size < candidates.size) candidates = posting;
		}
		for (const object of this.#objects(candidates)) if (matches(selector, object.metadata.labels)) yield object;
	}

	byTerm(plural: string, term: string): Iterable<ApiObject> {
		return this.#objects(this.#postings.get(kindTerm(plural, term)));
	}

	countByTerm(plural: string, term: string): number {
		return this.#postings.get(kindTerm(plural, term)).size;
	}

	sumByTerm(plural: string, term: string): number {
		return this.#sums.get(kindTerm(plural, term));
	}

	countOf(plural: string, namespace: string): number {
		return this.#postings.get(scopeTerm(plural, namespace)).size;
	}

	countInNamespace(namespace: string): number {
		return this.#postings.get(namespaceTerm(namespace)).size;
	}

	inNamespace(namespace: string): Iterable<ApiObject> {
		return this.#objects(this.#postings.get(namespaceTerm(namespace)));
	}

	part(key: ObjectKey, name: string): Json | undefined {
		return this.parts.part(key, name);
	}

	partsOf(key: ObjectKey): ReadonlyMap<string, Json> {
		return this.parts.of(key);
	}

	*#objects(keys: ReadonlySet<ObjectKey>): Iterable<ApiObject> {
		for (const key of keys) {
			const entry = this.#entries.get(key);
			if (entry !== undefined) yield entry.object;
		}
	}

	#put(entry: Entry): void {
		this.#entries.set(entry.key, entry);
		this.#uids.set(entry.object.metadata.uid, entry.key);
		for (const term of termsFor(entry)) this.#postings.add(term, entry.key);
		this.#file(entry.key, this.#filingsFor(entry));
	}

	#drop(entry: Entry): void {
		this.#entries.delete(entry.key);
		if (this.#uids.get(entry.object.metadata.uid) === entry.key) this.#uids.delete(entry.object.metadata.uid);
		for (const term of termsFor(entry)) this.#postings.remove(term, entry.key);
		this.#unfile(entry.key, this.#filingsFor(entry));
	}

	/** Most changes are of a status: what is filed under name, owner and labels stays where it is. */
	#replace(before: Entry, after: Entry): void {
		const {ownerReferences, labels, uid} = before.object.metadata;
		const {metadata} = after.object;
		if (ownerReferences !== metadata.ownerReferences || labels !== metadata.labels || uid !== metadata.uid) {
			this.#drop(before);
			this.#put(after);
			return;
		}
		this.#entries.set(after.key, after);
		// What stays under a term keeps its place there: what came first is found first.
		const was = this.#filingsFor(before);
		const is = this.#filingsFor(after);
		if (was.length === is.length && was.every((filing, i) => isSame(filing, is[i]))) return;
		this.#unfile(
			before.key,
			was.filter(filing => typeof filing !== 'string' || !is.includes(filing)),
		);
		this.#file(after.key, is);
	}

	#file(key: ObjectKey, filings: readonly Filing[]): void {
		const plural = pluralOf(key);
		for (const filing of filings) {
			if (typeof filing === 'string') this.#postings.add(kindTerm(plural, filing), key);
			else this.#sums.add(kindTerm(plural, filing.term), filing.amount);
		}
	}

	#unfile(key: ObjectKey, filings: readonly Filing[]): void {
		const plural = pluralOf(key);
		for (const filing of filings) {
			if (typeof filing === 'string') this.#postings.remove(kindTerm(plural, filing), key);
			else this.#sums.add(kindTerm(plural, filing.term), -filing.amount);
		}
	}

	#filingsFor({key, object}: Entry): readonly Filing[] {
		return this.#termsOf(pluralOf(key), object);
	}
}

const isSame = (a: Filing, b: Filing | undefined): boolean =>
	a === b || (typeof a === 'object' && typeof b === 'object' && a.term === b.term && a.amount === b.amount);

const pluralOf = (key: ObjectKey): string => key.slice(0, key.indexOf('/'));

/** The terms that every object has. */
function* termsFor({key, object}: Entry): Iterable<string> {
	const {plural, namespace} = parseObjectKey(key);
	const {ownerReferences = [], labels = {}} = object.metadata;
	yield pluralTerm(plural);
	yield scopeTerm(plural, namespace);
	if (namespace !== clusterScope) yield namespaceTerm(namespace);
	for (const owner of ownerReferences) yield ownerTerm(owner.uid);
	for (const [label, value] of Object.entries(labels)) yield labelTerm(plural, namespace, label, value);
}

/** For systems without objects of their own, and for `play`. */
export const emptyIndex: Known = new ObjectIndex();
