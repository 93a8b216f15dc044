// metadata, and the frame of an object around a kind's spec.

import Type, {type TObject, type TSchema} from 'typebox';
import type {Draft} from '../object.js';
import {
	about,
	anyObject,
	labels,
	list,
	maxInt32,
	mergedAsSet,
	mergedBy,
	optional,
	ownerReference,
	record,
	shared,
	text,
	whole,
	type Annotations,
	type Same,
	type ShapeOf,
} from './parts.js';

/** What only the server sets is accepted, as an exported manifest has it, and does not count. */
export const metadata = () =>
	record({
		name: optional(about('Its name, unique among its kind and namespace.', text())),
		generateName: optional(about('The beginning of a name that the cluster makes up.', text())),
		namespace: optional(about('The namespace it is in.', text())),
		uid: optional(about('Its identity for all time; set by the cluster.', text())),
		resourceVersion: optional(about('Its version; set by the cluster.', text())),
		generation: optional(about('How often its spec changed; set by the cluster.', whole(0, Number.MAX_SAFE_INTEGER))),
		creationTimestamp: optional(about('When it was made; set by the cluster.', text())),
		deletionTimestamp: optional(about('When its deletion began; set by the cluster.', text())),
		deletionGracePeriodSeconds: optional(about('How long its deletion may take; set by the cluster.', whole(0, maxInt32))),
		labels: optional(about('What it is selected by.', labels())),
		annotations: optional(about('Further texts about it.', labels())),
		ownerReferences: optional(about('Whom it belongs to: it goes when they are gone.', list(ownerReference(), mergedBy('uid')))),
		finalizers: optional(about('What must be done before it goes.', list(text(), mergedAsSet))),
		managedFields: optional(about('Accepted; it means nothing.', list(anyObject()))),
		selfLink: optional(about('Accepted; it means nothing.', text())),
	});

/** Accepted as exported manifests have it; no part of the cluster looks at it. */
type Meaningless = 'managedFields' | 'selfLink';

export const metadataSaysTheSame: Same<Omit<ShapeOf<typeof metadata>, Meaningless>, Draft['metadata']> = true;

/** The metadata of a pod template. */
export const templateMetadata = () =>
	record({
		name: optional(about('Accepted; it means nothing.', text())),
		namespace: optional(about('Accepted; it means nothing.', text())),
		labels: optional(about('What its pods are selected by.', labels())),
		annotations: optional(about('Further texts about each pod.', labels())),
	});

/**
 * An object that has these members besides those of every object. The status is checked by a validator of its own, only where one comes
 * from outside.
 */
export const objectOf = ({properties}: TObject, annotations: Annotations = {}) =>
	record(
		{
			apiVersion: about('The group and version of its kind.', text()),
			kind: about('What it is.', text()),
			metadata: about('Its name, and what is said about it.', shared<typeof metadata>('Metadata')),
			...properties,
			status: optional(about('How it is; set by the cluster.', Type.Unknown())),
		},
		annotations,
	);

/** An object whose spec is required. */
export const objectWith = (spec: TSchema) => objectOf(record({spec}));

/** An object that may do without a spec. */
export const objectWithOptional = (spec: TSchema) => objectWith(optional(spec));
