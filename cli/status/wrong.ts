// One thing that is wrong, and the command that tells more of it.

import type {ApiObject} from '../../api/object.js';
import type {Coming, Wrong} from './status.js';

export type Judged = {readonly wrong: readonly Wrong[]; readonly coming: readonly Coming[]};

/** Of an object: `troupe why` goes on from here. */
export function whyWrong({kind, metadata: {name, namespace}}: Pick<ApiObject, 'kind' | 'metadata'>, says: string): Wrong {
	const about = `${kind.toLowerCase()}/${name}`;
	return {about, namespace: namespace ?? null, says, next: `troupe why ${about}${namespaceWord(namespace)}`};
}

/** As a command line has it; the namespace `default` is not said. */
export const namespaceWord = (namespace: string | null | undefined): string =>
	namespace === undefined || namespace === null || namespace === 'default' ? '' : ` -n ${namespace}`;
