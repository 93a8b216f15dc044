// Kinds that are kept and shown while no part of this version acts on them: the writer of one is told, in one line.

import type {KindDefinition} from './kind.js';

type Named = Pick<KindDefinition, 'kind' | 'singular' | 'isInert'>;

/** What to say to the writer of such an object; nothing for kinds that something acts on. */
export const inertWarnings = ({kind, singular, isInert}: Named, name: string): readonly string[] =>
	isInert === true ? [`${singular}/${name} is kept, but nothing acts on it yet: this version has no ${kind} controller`] : [];
