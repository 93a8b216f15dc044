import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import test, {type ExecutionContext} from 'ava';
import {parseProcessStat, signalGroup, signalProcess, statOf, type ProcessStat} from '../../agent/os/identity.js';

/** A program that leads a group of its own. */
function aProgram(t: ExecutionContext): {readonly child: ChildProcess; readonly stat: ProcessStat} {
	const child = spawn('sleep', ['infinity'], {detached: true, stdio: 'ignore'});
	t.teardown(() => child.kill('SIGKILL'));
	const stat = statOf(child.pid ?? 0);
	if (stat === undefined) throw new Error('no program was started');
	return {child, stat};
}

test('only the process that was meant is signalled, not the one that has its pid by now', async t => {
	const {child, stat} = aProgram(t);
	const ended = once(child, 'exit');
	t.false(signalProcess({...stat, startTime: stat.startTime - 1}, 'SIGKILL'));
	t.true(signalProcess(stat, 'SIGTERM'));
	t.deepEqual(await ended, [null, 'SIGTERM'], 'and so it was not killed before');
	t.false(signalProcess(stat, 'SIGTERM'));
});

test('a group is signalled as long as it is that of the process, not one whose leader is younger', async t => {
	const {child, stat} = aProgram(t);
	const ended = once(child, 'exit');
	t.false(signalGroup({...stat, startTime: stat.startTime - 1}, 'SIGKILL'));
	t.true(signalGroup(stat, 'SIGTERM'));
	t.deepEqual(await ended, [null, 'SIGTERM'], 'and so it was not killed before');
	t.false(signalGroup(stat, 'SIGTERM'));
});

test('what would signal everybody is no process', t => {
	const line = (pid: number, group: number): string => `${pid} (a ) b) S 1 ${group} ${group}${' 0'.repeat(15)} 4711 0`;
	t.deepEqual(parseProcessStat(line(12, 13)), {pid: 12, state: 'S', group: 13, startTime: 4711});
	for (const [pid, group] of [
		[1, 13],
		[0, 13],
		[12, 1],
		[12, 0],
		[12, -1],
	] as const)
		t.is(parseProcessStat(line(pid, group)), undefined);
	t.is(parseProcessStat(''), undefined);
});
