// What the catalogue knows of a kind. A kind is one value of this type, in one file of `api/kinds`.

import type {Schema} from './descriptions.cjs';
import type {ApiObject, Draft} from './object.js';
import type {Found} from './rules/report.js';

export type Column = {
	readonly name: string;
	readonly type: 'string' | 'integer' | 'date';
	/** 0 is always shown, 1 with `-o wide`. */
	readonly priority: 0 | 1;
	readonly description: string;
	/** The cell's value; ages are worded from `nowMs`. */
	readonly cell: (object: ApiObject, nowMs: number) => string | number | null;
};

export type KindDefinition = {
	readonly kind: string;
	/** Empty for the core group. */
	readonly group: string;
	readonly version: string;
	readonly plural: string;
	readonly singular: string;
	readonly shortNames: readonly string[];
	readonly categories?: readonly string[];
	readonly namespaced: boolean;
	/** The kind has a scale subresource (spec.replicas, status.replicas). */
	readonly scalable?: boolean;
	/** Of the snapshot in the store; `upgrade` steps lead from older ones. Without it: 1. */
	readonly schemaVersion?: number;
	/** Top-level members that writers set, where they are others than `spec`. */
	readonly content?: readonly string[];
	/** Members of `spec` that only admins change: others may write the rest. */
	readonly guarded?: readonly string[];
	/** Paths of members in which null says something: it stays there, and anywhere below. In all others null is absent. */
	readonly keepsNulls?: readonly string[];
	/** The object without what only some readers may see, as topics and other public places show it. Without it: all of it. */
	readonly withheld?: (object: ApiObject) => ApiObject;
	/** Fills in what Kubernetes would fill in. Pure; called with what already passed the schema, on an update with the committed object. */
	readonly defaults: (draft: Draft, old?: ApiObject) => Draft;
	/** Rules beyond the schema, on an object with its defaults: adds what is wrong. `old` is the committed one when this is an update. */
	readonly validate: (found: Found, object: Draft, old?: ApiObject) => void;
	/** The status a new object starts with; what a client sends as status on create is dropped. Without it: none. */
	readonly initialStatus?: (object: Draft) => unknown;
	/** A new object with what follows from its uid, which only the server gives. Without it: nothing does. */
	readonly made?: (object: ApiObject) => ApiObject;
	/** Its status is what its record goes on from: nobody writes it from outside. Without it: who may write the object may. */
	readonly ownsStatus?: true;
	/** Why no one may delete this object; undefined when it may be deleted. Without it: never refused. */
	readonly refuseDeletion?: (object: ApiObject) => string | undefined;
	/** What an object is doing, for who looks at its actor; undefined where it rests. Without it: nothing is said of that. */
	readonly underWay?: (object: ApiObject) => string | undefined;
	readonly columns: readonly Column[];
	/** `fieldSelector` terms, `metadata.name` and `metadata.namespace` aside. */
	readonly selectableFields?: {readonly [path: string]: (object: ApiObject) => string};
};

/** A version of a kind beside the one that is kept: the same objects, in another form. Manifests of it are read by `api/dialects`. */
export type OlderVersion = {
	readonly of: KindDefinition;
	/** As that version has it; its columns read objects of that form. */
	readonly kind: KindDefinition;
	/** An object as that version shows it. */
	readonly shown: (object: ApiObject) => ApiObject;
	readonly schema: Schema;
};

/** What a writer is told who may not change such a member. */
export const guardedWords = ({plural}: KindDefinition, name: string, member: string): string =>
	`${plural} "${name}" is forbidden: only logins of the role admin may change spec.${member}`;

const specAlone = ['spec'];

/** The top-level members of an object that its writers set, metadata aside. */
export const contentOf = ({content}: {readonly content?: readonly string[]}): readonly string[] => content ?? specAlone;

export const memberOf = (object: object, field: string): unknown => (object as {readonly [field: string]: unknown})[field];
