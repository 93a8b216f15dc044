// `troupe workflow`: definitions tried without a cluster; runs of workflows started, seen, answered and ended.

import {didYouMean} from '../../api/suggest.js';
import {type Flags, type Invocation, usageError} from '../command.js';
import {clusterFlags, namespaceFlag} from '../command-line/flags.js';

type Verb = {
	/** What it takes beside the flags that say which cluster. */
	readonly flags: readonly string[];
	readonly load: () => Promise<(invocation: Invocation, words: readonly string[]) => Promise<number>>;
};

/** Of one flag there may be several meanings: each verb says what it takes. */
const verbs: {readonly [name: string]: Verb} = {
	test: {flags: ['mock', 'input', 'output'], load: async () => (await import('../workflow/test.js')).test},
	start: {flags: ['input', 'name', 'wait', 'timeout'], load: async () => (await import('../workflow/start.js')).start},
	list: {flags: ['output', 'all-namespaces'], load: async () => (await import('../workflow/list.js')).list},
	describe: {flags: ['output', 'watch'], load: async () => (await import('../workflow/describe.js')).describeOne},
	history: {flags: ['output'], load: async () => (await import('../workflow/history.js')).history},
	approve: {flags: ['state', 'key', 'output'], load: async () => (await import('../workflow/answer.js')).approve},
	reject: {flags: ['state', 'key', 'error', 'cause'], load: async () => (await import('../workflow/answer.js')).reject},
	pause: {flags: [], load: async () => (await import('../workflow/change.js')).changing('pause')},
	resume: {flags: [], load: async () => (await import('../workflow/change.js')).changing('resume')},
	cancel: {flags: [], load: async () => (await import('../workflow/change.js')).changing('cancel')},
	retry: {flags: ['from', 'wait', 'timeout'], load: async () => (await import('../workflow/retry.js')).retry},
};

export async function run(invocation: Invocation): Promise<number> {
	const {inputs, flags} = invocation;
	const [name = '', ...words] = inputs;
	const names = Object.keys(verbs);
	const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
	if (verb === undefined)
		throw usageError(
			name === ''
				? `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}? as in: troupe workflow start order --input '{"id": 7}'`
				: `unknown verb "${name}" of workflow${didYouMean(name, names)}`,
		);
	const other = givenIn(flags).find(flag => !verb.flags.includes(flag) && !common.includes(flag));
	if (other !== undefined) throw usageError(`--${other} is of workflow ${verbsWith(other)}, and not of ${name}`);
	return (await verb.load())(invocation, words);
}

const common = Object.keys({...clusterFlags, ...namespaceFlag});

const givenIn = ({words}: Flags): readonly string[] => words.map(word => /^--([^=]+)/.exec(word)?.[1] ?? '').filter(name => name !== '');

const verbsWith = (flag: string): string =>
	Object.entries(verbs)
		.filter(([, verb]) => verb.flags.includes(flag))
		.map(([name]) => name)
		.join(', ');
