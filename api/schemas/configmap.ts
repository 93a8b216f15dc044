// The schema of a ConfigMap.

import Type, {type Static} from 'typebox';
import type {ObjectMeta} from '../object.js';
import type {ConfigMapContent} from '../shapes/configmap.js';
import {flag, mapOf, optional, record, shared, text, type Same} from './parts.js';

const fields = () => ({
	data: optional(mapOf(text())),
	binaryData: optional(mapOf(text())),
	immutable: optional(flag()),
});

export const configMapContent = () => record(fields());

export const configMapStatus = () => record({});

export const configMap = () =>
	record({apiVersion: text(), kind: text(), metadata: shared<ObjectMeta>('Metadata'), ...fields(), status: optional(Type.Unknown())});

export const configMapSaysTheSame: Same<Static<ReturnType<typeof configMapContent>>, ConfigMapContent> = true;
