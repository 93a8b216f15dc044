// A context that answers as the step's own does, and remembers what it was asked.

import type {ObjectKey} from '../../api/keys.js';
import type {ApiObject, Json} from '../../api/object.js';
import type {LabelSelector} from '../../api/selector.js';
import type {Known} from '../index/object-index.js';
import type {Context, Pending} from '../kernel/behavior.js';
import type {Random} from '../time/random.js';
import type {RecordedContext, RecordedRead} from './step-record.js';

/** One question: asked twice in a step it has the same answer, for nothing is committed meanwhile. */
type Read = {
	readonly ask: string;
	readonly of: readonly Json[];
	/** Undefined: there is none. */
	object?: ApiObject | undefined;
	list?: ApiObject[];
	whole?: true;
	number?: number;
	/** By name: what is secret is known by it. */
	parts?: ReadonlyMap<string, Json>;
};

class RecordingKnown implements Known {
	readonly #known: Known;
	readonly reads = new Map<string, Read>();
	seenVersion: number | undefined;

	constructor(known: Known) {
		this.#known = known;
	}

	get version(): number {
		return (this.seenVersion = this.#known.version);
	}

	get(key: ObjectKey): ApiObject | undefined {
		return this.#one('get', [key], this.#known.get(key));
	}

	byUid(uid: string): ApiObject | undefined {
		return this.#one('byUid', [uid], this.#known.byUid(uid));
	}

	byOwner(uid: string): Iterable<ApiObject> {
		return this.#each('byOwner', [uid], this.#known.byOwner(uid));
	}

	list(plural: string, namespace?: string): Iterable<ApiObject> {
		return this.#each('list', namespace === undefined ? [plural] : [plural, namespace], this.#known.list(plural, namespace));
	}

	select(plural: string, namespace: string, selector: LabelSelector): Iterable<ApiObject> {
		return this.#each('select', [plural, namespace, selector], this.#known.select(plural, namespace, selector));
	}

	byTerm(plural: string, term: string): Iterable<ApiObject> {
		return this.#each('byTerm', [plural, term], this.#known.byTerm(plural, term));
	}

	inNamespace(namespace: string): Iterable<ApiObject> {
		return this.#each('inNamespace', [namespace], this.#known.inNamespace(namespace));
	}

	countByTerm(plural: string, term: string): number {
		return this.#number('countByTerm', [plural, term], this.#known.countByTerm(plural, term));
	}

	sumByTerm(plural: string, term: string): number {
		return this.#number('sumByTerm', [plural, term], this.#known.sumByTerm(plural, term));
	}

	countOf(plural: string, namespace: string): number {
		return this.#number('countOf', [plural, namespace], this.#known.countOf(plural, namespace));
	}

	countInNamespace(namespace: string): number {
		return this.#number('countInNamespace', [namespace], this.#known.countInNamespace(namespace));
	}

	part(key: ObjectKey, name: string): Json | undefined {
		const part = this.#known.part(key, name);
		this.#read('part', [key, name]).parts = new Map(part === undefined ? [] : [[name, part]]);
		return part;
	}

	partsOf(key: ObjectKey): ReadonlyMap<string, Json> {
		const parts = this.#known.partsOf(key);
		this.#read('partsOf', [key]).parts = new Map(parts);
		return parts;
	}

	#one(ask: string, of: readonly Json[], object: ApiObject | undefined): ApiObject | undefined {
		this.#read(ask, of).object = object;
		return object;
	}

	#number(ask: string, of: readonly Json[], number: number): number {
		this.#read(ask, of).number = number;
		return number;
	}

	/** What was not looked at is not remembered. */
	*#each(ask: string, of: readonly Json[], objects: Iterable<ApiObject>): Iterable<ApiObject> {
		const read = this.#read(ask, of);
		const list = (read.list ??= []);
		let at = 0;
		for (const object of objects) {
			if (at++ === list.length) list.push(object);
			yield object;
		}
		read.whole = true;
	}

	#read(ask: string, of: readonly Json[]): Read {
		const name = readName(ask, of);
		const known = this.reads.get(name);
		if (known !== undefined) return known;
		const read: Read = {ask, of};
		this.reads.set(name, read);
		return read;
	}
}

/** What names a question. */
export const readName = (ask: string, of: readonly Json[]): string => `${ask} ${JSON.stringify(of)}`;

export class RecordingContext implements Context {
	readonly #context: Context;
	readonly #known: RecordingKnown;
	readonly #monotonicMs: number[] = [];
	readonly #hasChild = new Map<string, boolean>();
	readonly #draws: number[] = [];
	readonly #uuids: string[] = [];
	#children: readonly string[] | undefined;
	#pending: ReadonlyMap<string, Pending> | undefined;
	readonly self: string;
	readonly cause: string;
	readonly nowMs: number;
	readonly random: Random;
	readonly known: Known;

	constructor(context: Context) {
		this.#context = context;
		this.self = context.self;
		this.cause = context.cause;
		this.nowMs = context.nowMs;
		this.known = this.#known = new RecordingKnown(context.known);
		this.random = {
			next: () => kept(this.#draws, context.random.next()),
			uuid: () => kept(this.#uuids, context.random.uuid()),
		};
	}

	get monotonicMs(): number {
		return kept(this.#monotonicMs, this.#context.monotonicMs);
	}

	get children(): readonly string[] {
		return (this.#children = this.#context.children);
	}

	readonly hasChild = (name: string): boolean => {
		const answer = this.#context.hasChild(name);
		this.#hasChild.set(name, answer);
		return answer;
	};

	/** The open writes change when the effects run, after the step. */
	get pending(): ReadonlyMap<string, Pending> {
		return (this.#pending ??= new Map(this.#context.pending));
	}

	/** What was asked, each object once; of UUIDs none that has become a secret. `encode` may throw. */
	recorded(encode: (value: unknown) => Json, secrets: ReadonlySet<unknown>): RecordedContext {
		const objects = new Map<ApiObject, number>();
		const placeOf = (object: ApiObject): number => {
			const place = objects.get(object);
			if (place !== undefined) return place;
			objects.set(object, objects.size);
			return objects.size - 1;
		};
		const reads = [...this.#known.reads.values()].map(read => readOf(read, placeOf));
		const version = this.#known.seenVersion;
		return {
			nowMs: this.nowMs,
			...(this.#monotonicMs.length === 0 ? {} : {monotonicMs: encode(this.#monotonicMs) as readonly number[]}),
			...(this.#children === undefined ? {} : {children: encode(this.#children) as readonly string[]}),
			...(this.#hasChild.size === 0 ? {} : {hasChild: encode([...this.#hasChild]) as unknown as readonly (readonly [string, boolean])[]}),
			...(this.#draws.length === 0 ? {} : {draws: encode(this.#draws) as readonly number[]}),
			...(this.#uuids.length === 0
				? {}
				: {uuids: encode(this.#uuids.map(uuid => (secrets.has(uuid) ? '<secret>' : uuid))) as readonly string[]}),
			...(this.#pending === undefined ? {} : {pending: encode(this.#pending)}),
			...(version === undefined ? {} : {version}),
			...(reads.length === 0 ? {} : {reads: encode(reads) as unknown as readonly RecordedRead[]}),
			...(objects.size === 0 ? {} : {objects: [...objects.keys()].map(object => encode(object))}),
		};
	}
}

function kept<Value>(list: Value[], value: Value): Value {
	list.push(value);
	return value;
}

function readOf(
	{ask, of, object, list, whole, number, parts}: Read,
	placeOf: (object: ApiObject) => number,
): Omit<RecordedRead, 'parts'> & Pick<Read, 'parts'> {
	if (parts !== undefined) return {ask, of, parts};
	if (number !== undefined) return {ask, of, number};
	if (list !== undefined) return {ask, of, list: list.map(placeOf), ...(whole === undefined ? {} : {whole})};
	return {ask, of, object: object === undefined ? -1 : placeOf(object)};
}
