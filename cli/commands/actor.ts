// `troupe actor VERB PLACE …`: one line of the inspector as a command. `troupe actor run FILE` is another's: actors of a user's own.

import {AppError} from '../../api/errors.js';
import {interruptedExitCode, type Invocation, usageError} from '../command.js';
import {openSession} from '../inspect/open-session.js';
import {page} from '../inspect/pager.js';
import {root} from '../inspect/places.js';
import {runWords} from '../inspect/run-line.js';
import type {Session} from '../inspect/session.js';
import {emptyMemory, type Shell, type VerbSpec} from '../inspect/verb.js';
import {verbSpecs} from '../inspect/verb-specs.js';
import {findVerb} from '../inspect/verb-words.js';
import {askLine} from '../inspect/ask-line.js';

/** Flags of the command itself, which a verb does not know. */
const ownFlags = /^--(home|kubeconfig|help)=/;

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal, environment} = invocation;
	const [verb, ...words] = inputs;
	if (verb === undefined)
		throw usageError('actor takes a verb and a place, as in: troupe actor state pod/web-1; troupe actor help lists them');
	if (verb === 'run') return (await import('../actor-run/run.js')).runActor(invocation, words);
	const spec = findVerb(verb, verbSpecs);
	if (spec?.shellOnly === true)
		throw usageError(`${verb} is of the shell, troupe repl${spec.takes === 'places' ? '; here each place is written whole' : ''}`);
	const {session, namespace} = spec?.isOffline === true ? offline : await openSession(invocation, isLook(spec) ? 'https' : 'mqtt');
	const ended = new AbortController();
	const end = (): void => ended.abort();
	process.once('SIGINT', end);
	const shell: Shell = {
		session,
		terminal,
		namespace,
		memory: emptyMemory(root),
		format: undefined,
		confirm: terminal.interactive ? question => askLine(question, ended.signal) : undefined,
		page: text => page(text, terminal, environment, () => () => undefined),
		verbs: verbSpecs.filter(({shellOnly}) => shellOnly !== true),
		exit: () => undefined,
	};
	session.onNews(line => terminal.note(line));
	try {
		await runWords([verb, ...flags.words.filter(word => !ownFlags.test(word)), ...words], shell, ended.signal);
		return ended.signal.aborted ? interruptedExitCode : 0;
	} finally {
		process.off('SIGINT', end);
		await session.close();
	}
}

/** Of a verb that asks no cluster. */
const offline: {readonly session: Session; readonly namespace: string} = {
	namespace: 'default',
	session: {
		about: 'no cluster',
		ask: () => Promise.reject(new AppError('ERR_NOT_REACHABLE', {message: 'no cluster is asked here'})),
		askAll: () => Promise.resolve([]),
		stream: () => {
			throw new AppError('ERR_NOT_REACHABLE', {message: 'no cluster is asked here'});
		},
		onNews: () => undefined,
		close: () => Promise.resolve(),
	},
};

/** What is answered once and changes nothing needs no subscription. */
const isLook = (spec: VerbSpec | undefined): boolean => spec?.changes === undefined && spec?.streams !== true;
