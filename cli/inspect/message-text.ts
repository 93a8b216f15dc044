// Texts about messages, shorter where what stands around says the rest. Pure.

import type {MessageLook, Shown} from '../../api/inspect.js';

/** The members beside the type. */
export const withoutType = (message: MessageLook['message']): {readonly [member: string]: Shown} =>
	Object.fromEntries(Object.entries(message as {readonly [member: string]: Shown}).filter(([name]) => name !== 'type'));

/** What crashed, and on what, is told beside it. */
export const withoutActor = (failure: string): string => failure.replace(/^the actor "[^"]*" crashed on this message: /, '');

/** Addresses in a text as places. */
export const withPlaces = (text: string): string =>
	text.replace(/troupe:\/\/([^/\s"]+)\/([^\s"]*)/g, (_all, system: string, path: string) => (path === '' ? system : `${system}/${path}`));
