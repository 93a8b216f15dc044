// Objects that are gone, as they were when their deletion was asked for: what comes after that says nothing of them. In memory only, for as
// long as their journal.

import type {ObjectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import type {Change, Entry} from '../index/object-index.js';

export type DepartedObject = {
	readonly object: ApiObject;
	/** When it was removed. */
	readonly goneAtMs: number;
	/** The commit that asked for its deletion, or removed it at once. */
	readonly askedVersion: number;
};

/** As it was before its deletion was asked for, by the commit of that version. */
type Asked = {readonly before: Entry; readonly version: number};

type Kept = DepartedObject & {readonly bytes: number};

export class Departed {
	/** Objects that are being deleted, as they were before. */
	readonly #leaving = new Map<ObjectKey, Asked>();
	/** The first that went is the first here. */
	readonly #gone = new Map<ObjectKey, Kept>();
	#bytes = 0;

	/** Takes one committed change. */
	take({key, version, before, after}: Change, nowMs: number): void {
		if (before === undefined) this.#drop(key);
		else if (after === undefined) this.#keep(key, this.#leaving.get(key) ?? {before, version}, nowMs);
		else if (isLeaving(after) && !isLeaving(before)) this.#leaving.set(key, {before, version});
		if (after === undefined || !isLeaving(after)) this.#leaving.delete(key);
		if (this.#leaving.size > limits.goneObjects) this.#leaving.delete(oldestOf(this.#leaving) ?? '');
	}

	/** The object of this key, if it is gone and no other one has its name. */
	of(key: ObjectKey, nowMs: number): DepartedObject | undefined {
		this.#forget(nowMs);
		return this.#gone.get(key);
	}

	/** What is gone and named this owner. */
	*ownedBy(uid: string): Iterable<ApiObject> {
		for (const {object} of this.#gone.values())
			if (object.metadata.ownerReferences?.some(owner => owner.uid === uid) === true) yield object;
	}

	#keep(key: ObjectKey, {before: {object, json}, version}: Asked, nowMs: number): void {
		this.#drop(key);
		const size = Buffer.byteLength(json());
		const kept = size > limits.goneObjectBytes ? withoutContent(object) : object;
		const bytes = kept === object ? size : 0;
		this.#gone.set(key, {object: kept, goneAtMs: nowMs, askedVersion: version, bytes});
		this.#bytes += bytes;
		this.#forget(nowMs);
	}

	#forget(nowMs: number): void {
		for (const [key, {goneAtMs}] of this.#gone) {
			const isKept = nowMs - goneAtMs < limits.journalTtlMs && this.#gone.size <= limits.goneObjects && this.#bytes <= limits.goneBytes;
			if (isKept) return;
			this.#drop(key);
		}
	}

	#drop(key: ObjectKey): void {
		this.#bytes -= this.#gone.get(key)?.bytes ?? 0;
		this.#gone.delete(key);
	}
}

const isLeaving = ({object}: Entry): boolean => object.metadata.deletionTimestamp !== undefined;

const oldestOf = (all: ReadonlyMap<ObjectKey, unknown>): ObjectKey | undefined => all.keys().next().value;

const withoutContent = ({
	apiVersion,
	kind,
	metadata: {name, namespace, uid, resourceVersion, generation, creationTimestamp},
}: ApiObject): ApiObject => ({
	apiVersion,
	kind,
	metadata: {name, ...(namespace === undefined ? {} : {namespace}), uid, resourceVersion, generation, creationTimestamp},
});
