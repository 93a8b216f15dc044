// A message without its type, which is told by itself. Pure.

import type {MessageLook, Shown} from '../../api/inspect.js';

/** The members beside the type. */
export const withoutType = (message: MessageLook['message']): {readonly [member: string]: Shown} =>
	Object.fromEntries(Object.entries(message as {readonly [member: string]: Shown}).filter(([name]) => name !== 'type'));
