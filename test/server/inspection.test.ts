// What is asked of the actors of a cluster: by whom, of which systems, how often; and what is written of it.

import test, {type ExecutionContext} from 'ava';
import {failed, succeeded} from '../../api/errors.js';
import type {InspectAnswer, OfSystems, StreamPortion, SystemRequest} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import type {Role} from '../../api/roles.js';
import type {AuditEntry} from '../../server/inspect/audit.js';
import {createInspection} from '../../server/inspect/inspection.js';
import type {Outcome} from '../../api/errors.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {testCluster} from './cluster.js';

const web = 'control/pods/default.web';

/** An inspection of control and two nodes, on a clock of its own. */
function rig(t: ExecutionContext) {
	const cluster = testCluster();
	for (const system of ['control', 'node-a', 'node-b']) cluster.trees.push({system, tree: undefined, problem: undefined});
	const clock = new ManualClock();
	const audit: AuditEntry[] = [];
	const inspection = createInspection({control: cluster.control, clock, auditLog: entry => void audit.push(entry)});
	const asked: [string, SystemRequest][] = [];
	const onInspect = (look: (system: string, request: SystemRequest) => Outcome<unknown> | Promise<Outcome<unknown>>): void =>
		cluster.onInspect((system, request) => {
			asked.push([system, request]);
			return look(system, request);
		});
	onInspect(system => succeeded({of: system}));
	/** Asks, and collects what is answered. */
	const ask = (role: Role, request: unknown) => {
		const answers: InspectAnswer[] = [];
		let onEnd = (): void => undefined;
		const ended = new Promise<void>(resolve => (onEnd = resolve));
		const call = inspection.ask({identity: {name: `the-${role}`, role}, door: 'mqtt'}, succeeded(request), answer => {
			t.false(answers.at(-1)?.end === true, 'nothing comes after the end');
			answers.push(answer);
			if (answer.end) onEnd();
		});
		const {renew, close} = call ?? {renew: () => undefined, close: () => undefined};
		return {renew, close, isUnderWay: call !== undefined, answers, ended};
	};
	const told = async (role: Role, request: unknown): Promise<InspectAnswer> => {
		const {answers, ended} = ask(role, request);
		await ended;
		t.is(answers.length, 1);
		return answers[0] as InspectAnswer;
	};
	return {cluster, clock, audit, inspection, asked, onInspect, ask, told};
}

/** Lets promises that are settled go on. */
const settle = async (): Promise<void> => {
	for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

test('a look goes to the system of its place, and is written nowhere', async t => {
	const {told, asked, audit} = rig(t);
	t.deepEqual(await told('view', {verb: 'state', place: 'node-a/pods'}), {ok: true, value: {of: 'node-a'}, end: true});
	t.deepEqual(asked, [['node-a', {verb: 'state', place: 'node-a/pods'}]]);
	t.deepEqual(audit, []);
});

test('what all systems are asked each answers for itself, and one that does not is told as such', async t => {
	const {told, onInspect, asked} = rig(t);
	onInspect(system =>
		system === 'node-a' ? failed('ERR_TIMEOUT', {address: 'troupe://node-a/inspector', deadlineMs: 2_000}) : succeeded(1),
	);
	t.deepEqual(await told('tool', {verb: 'stats'}), {
		ok: true,
		end: true,
		value: {
			systems: [
				{system: 'control', value: 1},
				{system: 'node-a', problem: '"node-a" did not answer within 2 s'},
				{system: 'node-b', value: 1},
			],
		},
	});
	t.deepEqual(
		asked.map(([, request]) => request),
		['control', 'node-a', 'node-b'].map(place => ({verb: 'stats', place})),
	);
	t.deepEqual(await told('tool', {verb: 'systems'}), {
		ok: true,
		end: true,
		value: {systems: [{name: 'control'}, {name: 'node-a', problem: '"node-a" did not answer within 2 s'}, {name: 'node-b'}]},
	});
});

test('large answers of several systems come in several parts', async t => {
	const {ask, onInspect} = rig(t);
	onInspect(() => succeeded('x'.repeat(700_000)));
	const {answers, ended} = ask('view', {verb: 'tree'});
	await ended;
	t.deepEqual(
		answers.map(({end}) => end),
		[false, false, true],
	);
});

test('parts are measured in bytes, and what one system says that no message holds is told as a problem of it', async t => {
	const {ask, onInspect} = rig(t);
	onInspect(system => succeeded('é'.repeat(system === 'node-a' ? limits.inspectAnswerBytes / 2 : limits.inspectAnswerBytes / 3)));
	const {answers, ended} = ask('view', {verb: 'tree'});
	await ended;
	const systems = answers.map(answer => (answer as unknown as {value: OfSystems}).value.systems);
	t.deepEqual(
		systems.map(part => part.map(({system}) => system)),
		[['control', 'node-a'], ['node-b']],
	);
	t.like(systems[0]?.[1], {problem: 'the answer of "node-a" is larger than 1048576 bytes; ask for less of it, by its place'});
});

test('systems are asked some at a time, and those whose turn never comes are told as such', async t => {
	const {told, cluster, onInspect, clock} = rig(t);
	const names = Array.from({length: 200}, (_, at) => `n-${at}`);
	cluster.trees.push(...names.map(system => ({system, tree: undefined, problem: undefined})));
	let [open, most] = [0, 0];
	onInspect(async () => {
		most = Math.max(most, ++open);
		await settle();
		clock.advance(500);
		open -= 1;
		return succeeded(null);
	});
	const answer = await told('view', {verb: 'stats'});
	t.is(most, limits.inspectSystems);
	const {systems} = (answer as unknown as {value: {systems: {problem?: string}[]}}).value;
	t.is(systems.length, 203);
	t.true(systems.some(({problem}) => problem?.endsWith('was not asked: 10 s were over') === true));
});

test('changes are for admins, and each one that is asked for is in the audit log, without its values', async t => {
	const {told, audit, asked} = rig(t);
	const tell = {verb: 'tell', place: web, message: {type: 'patch', patch: {token: 's3cr3t'}}};
	const refused = await told('view', tell);
	t.like(refused, {ok: false, error: {code: 'ERR_FORBIDDEN'}});
	t.is(refused.ok ? '' : refused.error.message, 'User "the-view" cannot tell actors: that needs the role admin, and it has view');
	t.deepEqual(asked, []);
	t.true((await told('admin', tell)).ok);
	t.like(await told('admin', {verb: 'kill'}), {ok: false, error: {code: 'ERR_BAD_REQUEST'}});
	t.like(await told('edit', {verb: 'fault', place: 'node-a', fault: {type: 'partition'}}), {ok: false, error: {code: 'ERR_FORBIDDEN'}});
	const at = {time: '2023-11-14T22:13:20.000Z', door: 'mqtt'};
	t.deepEqual(audit, [
		{...at, login: 'the-view', role: 'view', verb: 'tell', place: web, messageType: 'patch', outcome: 'ERR_FORBIDDEN'},
		{...at, login: 'the-admin', role: 'admin', verb: 'tell', place: web, messageType: 'patch', outcome: 'done'},
		{...at, login: 'the-admin', role: 'admin', verb: 'kill', outcome: 'ERR_BAD_REQUEST'},
		{...at, login: 'the-edit', role: 'edit', verb: 'fault', place: 'node-a', fault: 'partition', outcome: 'ERR_FORBIDDEN'},
	]);
	t.false(JSON.stringify(audit).includes('s3cr3t'));
});

test('who makes a fault is told to the system; a tool cannot say another', async t => {
	const {told, asked} = rig(t);
	const fault = {verb: 'fault', place: 'node-a/pods', fault: {type: 'crash'}};
	await told('admin', fault);
	t.deepEqual(asked, [['node-a', {...fault, by: 'the-admin'}]]);
	t.like(await told('admin', {...fault, by: 'mallory'}), {ok: false, error: {code: 'ERR_BAD_REQUEST'}});
});

test('a system that a fault has cut off is told of with it, until the fault is over or it answers again', async t => {
	const {told, onInspect, clock} = rig(t);
	let isAway = false;
	onInspect(system =>
		isAway && system === 'node-a' ? failed('ERR_TIMEOUT', {address: 'troupe://node-a/inspector'}) : succeeded({done: 'done'}),
	);
	const cut = async (): Promise<void> => {
		isAway = false;
		t.true((await told('admin', {verb: 'fault', place: 'node-a', fault: {type: 'partition'}, forMs: 30_000})).ok);
		isAway = true;
		clock.advance(5_000);
	};
	const lookOf = async (verb: string) => {
		const answer = await told('view', {verb, place: 'node-a'});
		return answer.ok ? undefined : [answer.error.code, answer.error.message];
	};
	await cut();
	const text = 'cut off from all other systems, 25 s left, by the-admin';
	t.deepEqual(await lookOf('tree'), [
		'ERR_NOT_REACHABLE',
		`"node-a" cannot be reached, a fault keeps it away: ${text}; it ends by itself, and nobody can end it before`,
	]);
	t.like(await told('admin', {verb: 'heal', place: 'node-a'}), {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
	const {value} = (await told('view', {verb: 'faults'})) as unknown as {value: OfSystems};
	t.like(
		value.systems.find(({system}) => system === 'node-a'),
		{faults: [{address: 'troupe://node-a/', fault: {type: 'partition'}, leftMs: 25_000, by: 'the-admin', text}]},
	);
	isAway = false;
	clock.advance(limits.inspectSystemMs);
	t.is(await lookOf('tree'), undefined);
	isAway = true;
	t.regex((await lookOf('tree'))?.[1] ?? '', /did not answer within 2 s$/, 'its process has begun anew');
	clock.advance(limits.inspectSystemMs);
	await cut();
	clock.advance(25_000);
	t.regex((await lookOf('tree'))?.[1] ?? '', /did not answer within 2 s$/);
});

test('many refusals of one login are one line a second in the audit log', async t => {
	const {told, audit, clock, inspection} = rig(t);
	for (let at = 0; at < 10; at++) await told('view', {verb: 'kill', place: web});
	clock.advance(1_000);
	await told('view', {verb: 'kill', place: web});
	inspection.close();
	t.deepEqual(
		audit.map(({refusedBefore}) => refusedBefore),
		[undefined, 8, undefined],
	);
});

test('a change that is not answered when the server ends may have been made, and is in the audit log as such', async t => {
	const {ask, audit, inspection, onInspect} = rig(t);
	onInspect(() => new Promise(() => undefined));
	const kill = ask('admin', {verb: 'kill', place: web});
	const look = ask('admin', {verb: 'stats'});
	inspection.close();
	await Promise.all([kill.ended, look.ended]);
	t.like(kill.answers, [{ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}}]);
	t.like(look.answers, [{ok: false, error: {code: 'ERR_NOT_REACHABLE'}}]);
	t.like(audit, [{verb: 'kill', place: web, outcome: 'ERR_OUTCOME_UNKNOWN'}]);
	t.is(audit.length, 1);
});

test('nodes look at nothing, and what is not there is told', async t => {
	const {told, onInspect} = rig(t);
	for (const role of ['node', 'join'] as const) t.like(await told(role, {verb: 'systems'}), {ok: false, error: {code: 'ERR_FORBIDDEN'}});
	const unknown = await told('view', {verb: 'state', place: 'nod-a'});
	t.is(unknown.ok ? '' : unknown.error.message, 'there is no system "nod-a"; did you mean "node-a"?; {"verb": "systems"} lists them');
	onInspect((_system, request) => failed('ERR_NO_SUCH_ACTOR', {address: `troupe://${'place' in request ? request.place : ''}`}));
	t.like(await told('view', {verb: 'state', place: 'node-a/x'}), {ok: false, error: {code: 'ERR_NO_SUCH_ACTOR'}});
});

test("the journal of a record is control's, also of one that is gone", async t => {
	const {told, cluster, asked, onInspect} = rig(t);
	const entry = {version: 3, atMs: 1, type: 'create', from: '', cause: 'http root POST'};
	cluster.journals.set('pods/default/web', [entry]);
	cluster.journals.set('nodes/_/vm', [entry]);
	for (const place of [web, 'control/nodes/vm'])
		t.deepEqual(await told('view', {verb: 'journal', place}), {ok: true, value: {entries: [entry]}, end: true});
	t.deepEqual(asked, []);
	onInspect(() => succeeded({entries: []}));
	for (const place of ['control/pods', 'control/scheduler', 'control/pods/default.web/x', 'control/pods/web', 'node-a/pods/default.web'])
		t.deepEqual(await told('view', {verb: 'journal', place}), {ok: true, value: {entries: []}, end: true}, place);
});

test('a login that asks too much is refused, at last in silence, and another is not', async t => {
	const {ask, clock, told, audit} = rig(t);
	const calls = Array.from({length: 1_000}, () => ask('view', {verb: 'stats', place: 'control'}));
	await settle();
	const all = calls.flatMap(({answers}) => answers);
	t.is(calls.filter(({isUnderWay}) => isUnderWay).length, limits.inspectsOpen, 'of what is refused nothing is kept');
	t.is(all.filter(({ok}) => ok).length, limits.inspectsOpen);
	const refusals = all.flatMap(answer => (answer.ok ? [] : [answer.error]));
	t.is(refusals.length, limits.inspectRefusalsPerSecond);
	t.like(refusals[0], {code: 'ERR_BUSY', message: 'a login has at most 50 requests a second to the inspector, and 32 under way'});
	t.true((await told('admin', {verb: 'stats', place: 'control'})).ok);
	for (let at = 0; at < limits.inspectsAtOnce; at++) ask('edit', {verb: 'stats', place: 'control'});
	clock.advance(1_000);
	t.true((await told('view', {verb: 'stats', place: 'control'})).ok);
	t.deepEqual(audit, []);
});

// ---- streams ---------------------------------------------------------------------------------------------------------------

const entry = (system: string, number: number) => ({type: 'step', span: `${system}:${number}`});
const trace = {verb: 'trace', filter: {places: ['*/pods']}};
const portionOf = (answer: InspectAnswer | undefined): StreamPortion => (answer as unknown as {value: StreamPortion}).value;

/** Systems whose streams the test fills. */
function streaming(t: ExecutionContext) {
	const made = rig(t);
	const reads = new Map<string, (outcome: Outcome<StreamPortion>) => void>();
	const closed: string[] = [];
	made.onInspect((system, request) => {
		if (request.verb === 'read') return new Promise(resolve => reads.set(system, resolve));
		if (request.verb === 'close') closed.push(system);
		return succeeded({stream: `s-${system}`});
	});
	const tell = async (system: string, outcome: Outcome<StreamPortion>): Promise<void> => {
		const resolve = reads.get(system);
		reads.delete(system);
		t.truthy(resolve, `${system} is being read`);
		resolve?.(outcome);
		await settle();
	};
	const push = (system: string, ...numbers: readonly number[]): Promise<void> =>
		tell(system, succeeded({entries: numbers.map(number => entry(system, number)) as never, dropped: 0}));
	return {...made, reads, closed, tell, push};
}

test('a trace is one of all systems, under one name, and comes in portions', async t => {
	const {ask, asked, push, clock, closed} = streaming(t);
	const {answers, close, ended} = ask('view', trace);
	await settle();
	t.deepEqual(portionOf(answers[0]), {entries: [], dropped: 0});
	const opened = asked.filter(([, {verb}]) => verb === 'trace').map(([, request]) => (request as {trace?: string}).trace);
	t.is(opened.length, 3);
	t.is(new Set(opened).size, 1);
	await push('control', 1, 2);
	await push('node-b', 1);
	t.is(answers.length, 1);
	clock.advance(limits.inspectFlushMs);
	t.deepEqual(portionOf(answers[1]).entries, [entry('control', 1), entry('control', 2), entry('node-b', 1)] as never);
	close();
	await ended;
	t.deepEqual(portionOf(answers[2]), {entries: [], dropped: 0, ended: 'closed'});
	t.deepEqual(closed, ['control', 'node-a', 'node-b']);
});

test('no system is read before what it said was handed on', async t => {
	const {ask, push, reads, clock} = streaming(t);
	ask('view', trace);
	await settle();
	await push('control', 1);
	t.false(reads.has('control'));
	t.true(reads.has('node-a'));
	clock.advance(limits.inspectFlushMs);
	await settle();
	t.true(reads.has('control'));
});

test('what several systems said comes in portions that a message holds, and is counted where it alone is too large for one', async t => {
	const {ask, tell, clock, reads} = streaming(t);
	const {answers, close} = ask('view', trace);
	await settle();
	// Characters of two bytes.
	const large = (bytes: number) => ({...entry('x', 1), message: 'é'.repeat(bytes / 2)});
	const said = [large(400_000), large(400_000), large(limits.inspectAnswerBytes)];
	for (const system of ['control', 'node-a', 'node-b']) await tell(system, succeeded({entries: said as never, dropped: 0}));
	for (let portion = 1; portion <= 3; portion++) {
		t.false(reads.has('control'));
		clock.advance(limits.inspectFlushMs);
		await settle();
		t.is(answers.length, portion + 1);
		t.like(portionOf(answers[portion]), {dropped: portion === 1 ? 3 : 0});
		t.is(portionOf(answers[portion]).entries.length, 2);
	}
	t.true(reads.has('control'));
	for (const system of ['control', 'node-a']) await tell(system, succeeded({entries: said as never, dropped: 0}));
	close();
	t.deepEqual(
		answers.slice(4).map(answer => [portionOf(answer).entries.length, portionOf(answer).ended, answer.end]),
		[
			[2, undefined, false],
			[2, 'closed', true],
		],
	);
	clock.advance(limits.inspectFlushMs);
	t.is(answers.length, 6);
});

test('a stream is opened in some systems at a time', async t => {
	const {ask, cluster, onInspect, asked} = rig(t);
	cluster.trees.push(...Array.from({length: 100}, (_, at) => ({system: `n-${at}`, tree: undefined, problem: undefined})));
	let [open, most] = [0, 0];
	onInspect(async (_system, {verb}) => {
		if (verb === 'read') return new Promise(() => undefined);
		most = Math.max(most, ++open);
		await Promise.resolve();
		open -= 1;
		return succeeded({stream: 's'});
	});
	ask('view', trace);
	for (let at = 0; at < 10; at++) await settle();
	t.is(most, limits.inspectSystems);
	t.is(asked.filter(([, {verb}]) => verb === 'trace').length, 103);
});

test('a system that dies in the middle is told of, and the others go on; the last one ends the stream', async t => {
	const {ask, tell, push, clock} = streaming(t);
	const {answers, ended} = ask('view', trace);
	await settle();
	await tell('node-a', failed('ERR_OUTCOME_UNKNOWN', {address: 'troupe://node-a/inspector'}));
	clock.advance(limits.inspectFlushMs);
	t.deepEqual(portionOf(answers[1]).entries, [{type: 'system', system: 'node-a', problem: '"node-a" cannot be reached'}]);
	await push('node-b', 1);
	clock.advance(limits.inspectFlushMs);
	t.is(portionOf(answers[2]).entries.length, 1);
	await settle();
	await tell('node-b', succeeded({entries: [], dropped: 3, ended: 'time'}));
	await tell('control', failed('ERR_TIMEOUT', {address: 'troupe://control/inspector', deadlineMs: 7_000}));
	await ended;
	t.like(portionOf(answers.at(-1)), {ended: 'gone', dropped: 3});
});

test('a system that comes back, or is new, is traced from then on, and that is told', async t => {
	const {ask, asked, tell, push, clock, cluster} = streaming(t);
	const {answers, close} = ask('view', {...trace, forMs: 60_000, count: 100});
	await settle();
	await push('node-a', 1);
	clock.advance(limits.inspectFlushMs);
	await settle();
	await tell('node-a', failed('ERR_TIMEOUT', {address: 'troupe://node-a/inspector', deadlineMs: 7_000}));
	cluster.trees.push({system: 'node-c', tree: undefined, problem: undefined});
	clock.advance(limits.inspectJoinMs);
	await settle();
	clock.advance(limits.inspectFlushMs);
	const said = answers.flatMap(answer => portionOf(answer).entries).flatMap(each => (each.type === 'system' ? [each] : []));
	t.deepEqual(
		said.toSorted((one, other) => one.system.localeCompare(other.system)),
		[
			{type: 'system', system: 'node-a', problem: '"node-a" did not answer within 7 s'},
			...['node-a', 'node-c'].map(system => ({
				type: 'system',
				system,
				problem: `"${system}" is traced from now on; what it did before is not told`,
			})),
		] as never,
	);
	t.like(asked.filter(([system, {verb}]) => system === 'node-a' && verb === 'trace').at(-1)?.[1], {
		forMs: 60_000 - limits.inspectJoinMs,
		count: 99,
	});
	const [first, ...more] = asked.flatMap(([, request]) => (request.verb === 'trace' ? [request.trace] : []));
	t.true(more.every(name => name === first));
	t.is(more.length, 4);
	close();
	clock.advance(limits.inspectJoinMs);
	await settle();
	t.is(asked.filter(([, {verb}]) => verb === 'trace').length, 5);
});

test('a stream ends by number, by time, and when its tool does not renew it', async t => {
	const {ask, push, clock, closed} = streaming(t);
	const counted = ask('view', {...trace, count: 2});
	await settle();
	await push('control', 1, 2, 3);
	await counted.ended;
	t.like(portionOf(counted.answers.at(-1)), {ended: 'count', entries: [entry('control', 1), entry('control', 2)] as never});
	t.is(closed.length, 3);

	const timed = ask('view', {...trace, forMs: 1_000});
	await settle();
	clock.advance(1_000 + limits.inspectReadMs);
	await timed.ended;
	t.is(portionOf(timed.answers.at(-1)).ended, 'time');

	const left = ask('view', {...trace, forMs: 100_000});
	await settle();
	clock.advance(limits.inspectUnreadMs - 1);
	left.renew();
	clock.advance(limits.inspectUnreadMs - 1);
	t.is(left.answers.length, 1);
	clock.advance(1);
	await left.ended;
	t.is(portionOf(left.answers.at(-1)).ended, 'unread');
	t.is(closed.length, 9);
});

test('a stream that ends while a system begins is ended there, too', async t => {
	const {ask, onInspect, asked} = rig(t);
	let begin = (_: Outcome<unknown>): void => undefined;
	onInspect((system, {verb}) =>
		verb === 'trace' && system === 'node-b'
			? new Promise(resolve => (begin = resolve))
			: verb === 'read'
				? new Promise(() => undefined)
				: succeeded({stream: system}),
	);
	const {close, ended, answers} = ask('view', trace);
	await settle();
	t.is(answers.length, 0);
	close();
	await ended;
	begin(succeeded({stream: 'late'}));
	await settle();
	t.deepEqual(asked.at(-1), ['node-b', {verb: 'close', stream: 'late'}]);
});

test('a stream that can begin nowhere fails, one that can somewhere says where not', async t => {
	const {told, ask, onInspect} = rig(t);
	onInspect(() => failed('ERR_BUSY', {address: 'inspector', waiting: 256}));
	t.like(await told('view', {verb: 'watch', place: web}), {ok: false, error: {code: 'ERR_BUSY'}});
	onInspect((system, {verb}) =>
		system === 'node-a' ? failed('ERR_BUSY', {message: 'full'}) : verb === 'read' ? new Promise(() => undefined) : succeeded({stream: 's'}),
	);
	const {answers} = ask('view', trace);
	await settle();
	t.deepEqual(portionOf(answers[0]).entries, [{type: 'system', system: 'node-a', problem: 'full'}]);
});

test('a login has two traces, and all that are no admins leave room for an admin', async t => {
	const {ask, told} = streaming(t);
	const isRefused = {ok: false, error: {code: 'ERR_BUSY'}};
	for (const login of ['view', 'tool', 'edit'] as const) {
		for (let trace_ = 0; trace_ < limits.inspectTraces; trace_++) ask(login, trace);
		await settle();
		t.like(await told(login, trace), isRefused);
	}
	for (let left = limits.inspectOthersStreams - 3 * limits.inspectTraces; left > 0; left--)
		ask(left > 9 ? 'view' : 'tool', {verb: 'watch', place: web});
	await settle();
	t.like(await told('edit', {verb: 'watch', place: web}), isRefused);
	const admins = [ask('admin', trace), ask('admin', {verb: 'watch', place: web})];
	await settle();
	for (const {answers} of admins) t.false(answers.some(({ok}) => !ok));
});

test('a system that is away is sent one small question, however many ask, and is heard as soon as it answers', async t => {
	const {ask, told, onInspect, asked, clock} = rig(t);
	let answerProbe = (_: Outcome<unknown>): void => undefined;
	onInspect((system, request) => {
		if (system !== 'node-a' || request.verb === 'links') return succeeded({of: system});
		if (request.verb === 'tree') return new Promise(resolve => (answerProbe = resolve));
		return failed('ERR_TIMEOUT', {address: 'troupe://node-a/inspector', deadlineMs: 2_000});
	});
	const isAway = {ok: false, error: {code: 'ERR_NOT_REACHABLE', message: '"node-a" did not answer within 2 s'}};
	t.like(await told('view', {verb: 'mailbox', place: 'node-a'}), isAway);
	const calls = Array.from({length: 20}, () => ask('view', {verb: 'links', place: 'node-a'}));
	const change = ask('admin', {verb: 'kill', place: 'node-a/sync'});
	await settle();
	clock.advance(limits.inspectSystemMs);
	await Promise.all([...calls, change].map(({ended}) => ended));
	for (const {answers} of [...calls, change]) t.like(answers[0], isAway);
	t.deepEqual(
		asked.map(([, {verb}]) => verb),
		['mailbox', 'tree'],
	);
	const waiting = ask('view', {verb: 'links', place: 'node-a'});
	answerProbe(succeeded({}));
	await waiting.ended;
	t.like(waiting.answers, [{ok: true, value: {of: 'node-a'}}]);
	t.true((await told('view', {verb: 'links', place: 'node-a'})).ok);
});

test('of the questions to one system those of others leave room for an admin', async t => {
	const {inspection, told, onInspect, asked} = rig(t);
	onInspect((_system, {verb}) => (verb === 'stats' ? new Promise(() => undefined) : succeeded(null)));
	for (let at = 0; at < limits.inspectAsks; at++) {
		const identity = {name: `viewer-${at % 10}`, role: 'view'} as const;
		inspection.ask({identity, door: 'mqtt'}, succeeded({verb: 'stats', place: 'control'}), () => undefined);
	}
	await settle();
	t.is(asked.length, limits.inspectOthersAsks);
	t.like(await told('edit', {verb: 'links', place: 'control'}), {ok: false, error: {code: 'ERR_BUSY'}});
	t.true((await told('edit', {verb: 'links', place: 'node-a'})).ok);
	t.true((await told('admin', {verb: 'links', place: 'control'})).ok);
});

test('a change that a system has not answered may have been made', async t => {
	const {told, onInspect, audit} = rig(t);
	onInspect(() => failed('ERR_TIMEOUT', {address: 'troupe://node-a/inspector', deadlineMs: 2_000}));
	t.like(await told('admin', {verb: 'kill', place: 'node-a/inspector'}), {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	t.like(audit.at(-1), {verb: 'kill', outcome: 'ERR_OUTCOME_UNKNOWN'});
	t.like(await told('admin', {verb: 'state', place: 'node-a/inspector'}), {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
});

test('a login has so many streams, and none when it is not good any more', async t => {
	const {ask, told, inspection, closed} = streaming(t);
	const streams = Array.from({length: limits.inspectStreams}, () => ask('view', {verb: 'watch', place: web}));
	await settle();
	t.like(await told('view', {verb: 'watch', place: web}), {ok: false, error: {code: 'ERR_BUSY'}});
	const other = ask('edit', {verb: 'watch', place: web});
	await settle();
	inspection.endOf('the-view');
	for (const {ended, answers} of streams) {
		await ended;
		t.is(portionOf(answers.at(-1)).ended, 'closed');
	}
	t.is(closed.length, limits.inspectStreams);
	inspection.close();
	await other.ended;
	t.like(other.answers.at(-1), {ok: false, error: {code: 'ERR_NOT_REACHABLE', message: 'this server ends, or does not lead any more'}});
});
