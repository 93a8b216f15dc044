// What Slurm says is read, and nothing that it or a profile of a login says instead does any harm.

import {createHmac} from 'node:crypto';
import test from 'ava';
import {knownKeysOf} from '../../../server/slurm/known-hosts.js';
import {isOver, isWaiting, mayPassAtSlurm, readLook, readReport, saidOf, seenOf, verdictOf} from '../../../server/slurm/slurm-output.js';
import {rangeOf} from '../../../server/http/slurm-files.js';
import {parseArrayIndexes} from '../../../api/array-indexes.js';
import {sshPlaceOf} from '../../../api/login-node.js';

const spec = {runCommands: ['./a']};
const array = {...spec, array: '0-2'};

test('a look has the rows of each job and its place in the queue', t => {
	const look = readLook(
		[
			'Welcome to the cluster!',
			'troupe:q 1|RUNNING|2026-11-28T08:11:45|n1|None',
			'troupe:q 2|PENDING|2026-11-28T09:00:00||Priority',
			'troupe:q 3_0|COMPLETED|2026-11-28T08:11:45|n1|None',
			'troupe:q 3_1|PENDING|N/A||(ReqNodeNotAvail, UnavailableNodes:n[1-2])',
			'troupe:p 2|17',
			'troupe:looked',
		].join('\n'),
	);
	t.deepEqual(seenOf(spec, look?.rows.get('1') ?? [], undefined), {state: 'RUNNING', startTime: '2026-11-28T08:11:45Z', nodes: 'n1'});
	t.deepEqual(seenOf(spec, look?.rows.get('2') ?? [], look?.positions.get('2')), {
		state: 'PENDING',
		reason: 'Priority',
		queuePosition: 17,
		estimatedStart: '2026-11-28T09:00:00Z',
	});
	const third = look?.rows.get('3') ?? [];
	t.like(seenOf(array, third, undefined), {
		state: 'PENDING',
		reason: '(ReqNodeNotAvail, UnavailableNodes:n[1-2])',
		tasks: {succeeded: 1, pending: 1},
	});
	t.deepEqual([isOver(third), isWaiting(third), isOver([])], [false, false, true]);
});

test('a look that was cut off is none, and rubbish is passed over', t => {
	t.is(readLook('troupe:q 1|RUNNING|N/A|n1|None\n'), undefined);
	t.is(readLook(''), undefined);
	const rubbish = [
		'troupe:q',
		'troupe:q |||',
		'troupe:q x|RUNNING|||',
		'troupe:q 1|running|||',
		'troupe:p 1|many',
		'\0\u{FFFD}',
		'troupe:looked',
	];
	t.is(readLook(rubbish.join('\n'))?.rows.size, 0);
	t.is(saidOf('troupe:jobs 1\n troupe:job 2\n', 'job'), undefined);
	t.is(saidOf('motd\ntroupe:job 12\r\n', 'job'), '12');
});

const control = (state: string, more = ''): string =>
	`troupe:s JobId=4 JobName=a.b UserId=u(1) JobState=${state} Reason=None Restarts=0 ExitCode=0:0 StartTime=2026-11-28T08:11:45 NodeList=n1 ${more}`;
const reportOf = (...lines: readonly string[]) => readReport([...lines, 'troupe:reported'].join('\n'));
const verdict = (of: typeof spec, ...lines: readonly string[]) => {
	const report = reportOf(...lines);
	return report === undefined ? undefined : verdictOf(of, report).outcome;
};

test('how a job ended: what slurmctld says counts, then the accounts, then the exit code that it has left', t => {
	t.like(verdict(spec, control('COMPLETED')), {phase: 'Succeeded'});
	t.like(verdict(spec, 'troupe:a 4|CANCELLED by 0|0:15|2026-11-28T08:11:45|2026-11-28T08:12:45|n1'), {phase: 'Cancelled'});
	t.like(verdict(spec, 'troupe:a 4|FAILED|3:0|||', control('COMPLETED')), {phase: 'Succeeded'});
	t.like(verdict(spec, 'troupe:x job|0'), {phase: 'Succeeded'});
	t.like(verdict(spec, 'troupe:x job|9'), {phase: 'Failed', message: 'the job failed with exit code 9'});
	t.like(verdict(spec, control('TIMEOUT').replace('Reason=None', 'Reason=TimeLimit')), {reason: 'TimeLimit'});
	t.like(verdict(spec, control('OUT_OF_MEMORY')), {reason: 'OutOfMemory', message: 'Slurm ended the job: OUT_OF_MEMORY'});
	t.like(verdict(spec, control('NODE_FAIL')), {phase: 'Failed', reason: 'NodeFail'});
	t.like(verdict(spec), {phase: 'Failed', reason: 'Lost'});
	t.true(reportOf(control('PENDING'))?.isUnderWay);
	t.is(readReport(control('COMPLETED')), undefined);
});

test('of an array the worst counts, and how many did not complete', t => {
	const lines = ['troupe:a 4_0|COMPLETED|0:0|||', 'troupe:a 4_1|FAILED|7:0|||', 'troupe:x 2|0'];
	t.like(verdict(array, ...lines), {phase: 'Failed', message: 'the job failed with exit code 7 (1 of 3 did not complete)'});
	const report = reportOf(...lines);
	t.like(report === undefined ? {} : verdictOf(array, report).seen, {exitCode: 7, tasks: {succeeded: 2, failed: 1}});
	// The rest of one that was cancelled as it waited stands in one line.
	for (const rest of [
		control('CANCELLED', 'ArrayTaskId=1-2%1'),
		'troupe:a 4_[1-2%1]|CANCELLED by 0|0:0|Unknown|2026-11-28T08:12:45|None assigned',
	]) {
		const half = reportOf('troupe:a 4_0|COMPLETED|0:0|||', rest);
		t.like(half === undefined ? {} : verdictOf(array, half), {
			outcome: {phase: 'Cancelled', message: 'the job was cancelled in Slurm (2 of 3 did not complete)'},
			seen: {tasks: {succeeded: 1, cancelled: 2}},
		});
		t.false(half?.isUnderWay);
	}
	t.true(reportOf('troupe:a 4_0|COMPLETED|0:0|||', control('PENDING', 'ArrayTaskId=1-2'))?.isUnderWay);
	t.like(verdict(array, 'troupe:a 4_[0-2]|CANCELLED|0:0|||', 'troupe:a 4_1|FAILED|7:0|||'), {phase: 'Failed'}, 'a line of its own counts');
	const rubbish = ['4_[0-9999999]', '4_[x]', '4_[', '4_[0,0]', '4_[1-0]', '4_[]'].map(id => `troupe:a ${id}|CANCELLED|0:0|||`);
	t.like(verdict(array, ...rubbish), {phase: 'Failed', reason: 'Lost'});
	t.is(reportOf(...Array.from({length: 50_000}, () => 'troupe:a 4_[0-999]|CANCELLED|0:0|||'))?.endings.size, 1_000);
});

test('files of a report are those in the folder of the job alone', t => {
	const report = reportOf(
		'troupe:f 12 a.txt',
		'troupe:f 1 ../b',
		'troupe:f x c',
		'troupe:f 99999999999999999999 d',
		'troupe:f 3 e f',
		'troupe:c 7',
	);
	t.deepEqual(report?.files, [{name: 'a.txt', bytes: 12}]);
	t.is(report?.compileLog, 7);
});

test('what passes is told from what stays', t => {
	t.true(mayPassAtSlurm('sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)'));
	t.true(mayPassAtSlurm('sbatch: error: Batch job submission failed: Socket timed out on send/recv operation'));
	t.false(mayPassAtSlurm('sbatch: error: invalid partition specified: nowhere'));
});

test('known_hosts gives the keys of a host, by name, by port and by hash', t => {
	const key = Buffer.from('a key').toString('base64');
	const salt = Buffer.from('salt').toString('base64');
	const hash = createHmac('sha1', 'salt').update('login.example').digest('base64');
	const place = (text: string) => {
		const found = sshPlaceOf(text);
		if (found === undefined) throw new Error(`${text} is no host`);
		return found;
	};
	const of = (line: string, host: string): number => knownKeysOf(`# a note\n\n${line}\nrubbish\n`, place(host)).length;
	t.is(of(`login.example,10.0.0.7 ssh-ed25519 ${key}`, 'login.example'), 1);
	t.is(of(`[login.example]:2222 ssh-ed25519 ${key}`, 'login.example:2222'), 1);
	t.is(of(`login.example ssh-ed25519 ${key}`, 'login.example:2222'), 0);
	t.is(of(`|1|${salt}|${hash} ssh-rsa ${key}`, 'login.example'), 1);
	t.is(of(`|1|${salt}|${hash} ssh-rsa ${key}`, 'other.example'), 0);
});

test('ranges are those of RFC 9110, one at a time', t => {
	t.deepEqual(
		[
			'bytes=0-4',
			'bytes=5-',
			'bytes=-3',
			'bytes=0-99',
			'bytes=10-',
			'bytes=-0',
			'bytes=5-2',
			'bytes=-',
			'lines=1-2',
			'bytes=0-1,3-4',
			undefined,
		].map(header => rangeOf(header, 10)),
		[
			...[{from: 0, bytes: 5}, {from: 5, bytes: 5}, {from: 7, bytes: 3}, {from: 0, bytes: 10}, 'unsatisfiable' as const],
			...['unsatisfiable' as const, undefined, undefined, undefined, undefined, undefined],
		],
	);
});

test('indexes of an array are read as Slurm writes them', t => {
	t.deepEqual(parseArrayIndexes('0-3')?.indexes, [0, 1, 2, 3]);
	t.deepEqual(parseArrayIndexes('1,5-9:2%4'), {indexes: [1, 5, 7, 9], atOnce: 4});
	for (const text of ['', '3-1', '1,1', 'a', '0-99999', '1-', '%4', '0-3%0']) t.is(parseArrayIndexes(text), undefined, text);
});

test('of two jobs of one name the one that owns the folder is told, and rubbish owns nothing', t => {
	t.is(reportOf('troupe:o 41')?.owner, '41');
	for (const rubbish of ['', '0', '-1', '41 42', '41;rm', 'x', '9'.repeat(40)])
		t.is(reportOf(`troupe:o ${rubbish}`)?.owner, undefined, rubbish);
});
