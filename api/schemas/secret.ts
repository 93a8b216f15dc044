// The schema of a Secret. No message may repeat a value of it, whatever is wrong with it.

import type {Static} from 'typebox';
import type {SecretContent} from '../shapes/secret.js';
import {objectOf} from './metadata.js';
import {about, flag, mapOf, optional, record, text, type Same} from './parts.js';

const isPrivate = {'x-private': true} as const;

const fields = () => ({
	type: optional(about('What the entries are for; Opaque when left out.', text())),
	data: optional(about('The entries, as base64.', mapOf(text(isPrivate), isPrivate))),
	stringData: optional(about('Entries as text, for writers; they end up in data.', mapOf(text(isPrivate), isPrivate))),
	immutable: optional(about('Whether its entries stay as they are.', flag())),
});

export const secretContent = () => record(fields());

export const secretStatus = () => record({});

export const secret = () => objectOf(fields(), isPrivate);

export const secretSaysTheSame: Same<Static<ReturnType<typeof secretContent>>, SecretContent> = true;
