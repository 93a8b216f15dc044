// metadata, and the frame of an object around a kind's spec.

import Type, {type TSchema} from 'typebox';
import type {ObjectMeta} from '../object.js';
import {anyObject, flag, labels, list, maxInt32, optional, record, shared, text, whole} from './parts.js';

const ownerReference = () =>
	record({
		apiVersion: text(),
		kind: text(),
		name: text(),
		uid: text(),
		controller: optional(flag()),
		blockOwnerDeletion: optional(flag()),
	});

/** What only the server sets is accepted, as an exported manifest has it, and does not count. */
export const metadata = () =>
	record({
		name: optional(text()),
		generateName: optional(text()),
		namespace: optional(text()),
		uid: optional(text()),
		resourceVersion: optional(text()),
		generation: optional(whole(0, Number.MAX_SAFE_INTEGER)),
		creationTimestamp: optional(text()),
		deletionTimestamp: optional(text()),
		deletionGracePeriodSeconds: optional(whole(0, maxInt32)),
		labels: optional(labels()),
		annotations: optional(labels()),
		ownerReferences: optional(list(ownerReference())),
		finalizers: optional(list(text())),
		managedFields: optional(list(anyObject())),
		selfLink: optional(text()),
	});

/** The metadata of a pod template. */
export const templateMetadata = () =>
	record({
		name: optional(text()),
		namespace: optional(text()),
		labels: optional(labels()),
		annotations: optional(labels()),
	});

/** An object whose spec is required. The status is checked by a validator of its own, only where one comes from outside. */
export const objectWith = (spec: TSchema) =>
	record({apiVersion: text(), kind: text(), metadata: shared<ObjectMeta>('Metadata'), spec, status: optional(Type.Unknown())});

/** An object that may do without a spec. */
export const objectWithOptional = (spec: TSchema) => objectWith(optional(spec));
