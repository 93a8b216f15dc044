// The schema of a Secret. No message may repeat a value of it, whatever is wrong with it.

import Type, {type Static} from 'typebox';
import type {ObjectMeta} from '../object.js';
import type {SecretContent} from '../shapes/secret.js';
import {flag, mapOf, optional, record, shared, text, type Same} from './parts.js';

const isPrivate = {'x-private': true} as const;

const fields = () => ({
	type: optional(text()),
	data: optional(mapOf(text(isPrivate), isPrivate)),
	stringData: optional(mapOf(text(isPrivate), isPrivate)),
	immutable: optional(flag()),
});

export const secretContent = () => record(fields());

export const secretStatus = () => record({});

export const secret = () =>
	record(
		{apiVersion: text(), kind: text(), metadata: shared<ObjectMeta>('Metadata'), ...fields(), status: optional(Type.Unknown())},
		isPrivate,
	);

export const secretSaysTheSame: Same<Static<ReturnType<typeof secretContent>>, SecretContent> = true;
