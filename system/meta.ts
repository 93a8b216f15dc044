// The fence as text, and what stands for it in a store that is still empty. The same for every driver.

import type {Meta} from './store.js';

/** What a batch expects of a store that nobody has written to. */
export const noMeta: Meta = {version: 0, epoch: 0, lineage: ''};

/** The lineage of a store while a backup is put into it. */
export const restoringLineage = 'restoring';

export const sameMeta = (a: Meta, b: Meta): boolean => a.version === b.version && a.epoch === b.epoch && a.lineage === b.lineage;

export const formatMeta = ({version, epoch, lineage}: Meta): string => JSON.stringify({version, epoch, lineage});

/** Undefined: the text is no meta of ours. */
export function parseMeta(text: string): Meta | undefined {
	try {
		const {version, epoch, lineage} = Object(JSON.parse(text)) as Partial<Meta>;
		if (!isCount(version) || !isCount(epoch) || typeof lineage !== 'string') return undefined;
		return {version, epoch, lineage};
	} catch {
		return undefined;
	}
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** For messages: which state of the store is meant. */
export const aboutMeta = ({version, epoch}: Meta): string => `version ${version} of epoch ${epoch}`;
