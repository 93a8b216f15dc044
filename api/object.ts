// The shape every API object shares. Kinds refine `spec` and `status`; the actor runtime knows no more than this.

import type {condition, ownerReference, ShapeOf} from './schemas/parts.js';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = {readonly [key: string]: Json | undefined};

/** Whether a value is a JSON object: neither a list nor null. */
export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value while it is built member by member, where conditional spreads would cost too much. */
export type Mutable<T> = {-readonly [Key in keyof T]: T[Key]};

export type OwnerReference = ShapeOf<typeof ownerReference>;

export type Labels = {readonly [key: string]: string};

/**
 * Kubernetes' ObjectMeta, as far as it is honoured here. Times are RFC 3339 in UTC with whole seconds. It is written by hand: the schema says
 * what may be handed in, where all may be left out, and this is what a committed object has.
 */
export type ObjectMeta = {
	readonly name: string;
	readonly namespace?: string;
	readonly uid: string;
	/** Decimal text of the cluster's own counter; the commit pipeline sets it. */
	readonly resourceVersion: string;
	/** Rises with each change of the spec, never with one of status or metadata alone. */
	readonly generation: number;
	readonly creationTimestamp: string;
	readonly deletionTimestamp?: string;
	readonly deletionGracePeriodSeconds?: number;
	readonly labels?: Labels;
	readonly annotations?: Labels;
	readonly ownerReferences?: readonly OwnerReference[];
	readonly finalizers?: readonly string[];
};

/** One committed or candidate object. Objects are plain immutable JSON: a change is a new object. */
export type ApiObject<Spec = unknown, Status = unknown> = {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: ObjectMeta;
	readonly spec?: Spec;
	readonly status?: Status;
};

/** What a client hands in: metadata may lack all that the server sets. Written by hand like ObjectMeta; `api/schemas/metadata.ts` is held to it. */
export type Draft = {
	readonly apiVersion: string;
	readonly kind: string;
	readonly metadata: Partial<ObjectMeta> & {readonly generateName?: string};
	readonly spec?: unknown;
	readonly status?: unknown;
};

/** Kubernetes' Condition. */
export type Condition = ShapeOf<typeof condition>;

/** RFC 3339 with whole seconds, as Kubernetes writes metadata times. */
export const timestampOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
