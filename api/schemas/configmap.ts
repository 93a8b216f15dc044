// The schema of a ConfigMap.

import type {Static} from 'typebox';
import type {ConfigMapContent} from '../shapes/configmap.js';
import {objectOf} from './metadata.js';
import {about, flag, mapOf, optional, record, text, type Same} from './parts.js';

const fields = () => ({
	data: optional(about('Entries that are text.', mapOf(text()))),
	binaryData: optional(about('Entries that are bytes, as base64.', mapOf(text()))),
	immutable: optional(about('Whether its entries stay as they are.', flag())),
});

export const configMapContent = () => record(fields());

export const configMapStatus = () => record({});

export const configMap = () => objectOf(fields());

export const configMapSaysTheSame: Same<Static<ReturnType<typeof configMapContent>>, ConfigMapContent> = true;
