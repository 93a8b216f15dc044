// A small shell that kills what runs of an exclusive pod when the pod's lease ends, whatever has become of the agent.
//
// What it keeps true: it counts by the kernel's time since boot, which no program can set; the end of the lease stands in a file beside the pod, and
// the agent writes there when it extends the lease, so a watchdog is never replaced while it stands; what it kills it looks for when
// it strikes, so attempts that began after it are found too; to strike it needs nothing but itself, and one that cannot go on strikes early.

import {spawn} from 'node:child_process';
import {readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {valueOr} from '../../api/value-or.js';
import {signalGroup, statOf, type ProcessStat} from '../os/identity.js';
import {isolatedStdio} from '../os/isolated-stdio.js';

/** How a watchdog kills: the text of a shell function `strike`, which has $folder and $now (set by `uptime`), and its arguments. */
export type Strike = {readonly text: string; readonly words: readonly string[]};

/**
 * Kills every process that a state file under $folder names and does not call over: first the program, so that its shim can write the code down,
 * then the group. A pid with another start time is another process's.
 */
export const killAttempts: Strike = {
	text: `find_process() {
pid= start= group=
while read -r word first second third others; do case $word in
running) pid=$third ;;
process) fields="$first $second $third $others"; set -- \${fields##*) }; group=$3 start=\${20} ;;
exit|lost) pid= ;;
esac; done <"$1"
[ -n "$pid" ] && read -r stat 2>/dev/null </proc/"$pid"/stat || return 1
set -- \${stat##*) }
[ -n "$start" ] || { start=\${20}; group=$3; }
[ "$start" = "\${20}" ]
}
strike() {
for file in "$folder"/*/*/state; do [ -f "$file" ] && find_process "$file" && kill -s KILL "$pid"; done
uptime
end=$((now + 20))
while [ "$now" -lt "$end" ]; do uptime; done
for file in "$folder"/*/*/state; do [ -f "$file" ] && find_process "$file" && kill -s KILL "-$group"; done
}`,
	words: [],
};

/**
 * Waits until the uptime (1/100 s) of $1, or a later one that the record in the folder $2 names by then, and strikes. A watchdog that the record
 * does not name any more goes at its first end.
 */
const watchdogText = (strike: string): string => `end=$1 folder=$2
shift 2
uptime() { read -r up rest </proc/uptime; now=\${up%.*}\${up#*.}; }
${strike}
trap 'strike "$@"' EXIT
uptime
while [ "$now" -lt "$end" ]; do
left=$((end - now + 1))
sleep "$((left / 100)).$((left % 100 / 10))$((left % 10))"
[ -d "$folder" ] || { trap - EXIT; exit; }
named=
[ -r "$folder/watchdog" ] && while read -r word first others; do case $word in
lease) [ "$first" -gt "$end" ] && end=$first ;;
watchdog) [ "$first" = "$$" ] && named=yes ;;
esac; done <"$folder/watchdog"
uptime
[ -n "$named" ] || [ "$now" -ge "$end" ] || { trap - EXIT; exit; }
done`;

/** What the kernel has counted since it began, in hundredths of a second: CLOCK_BOOTTIME. Throws errno exceptions. */
export function uptimeHundredths(): number {
	const [seconds = ''] = readFileSync('/proc/uptime', 'utf8').split(' ');
	return Math.floor(Number(seconds) * 100);
}

/**
 * Has the pod of this folder killed at that uptime, or at the later one of the record. `onEnd` hears when this process ends, for whatever
 * reason; it never keeps the agent from ending. Throws an Error when it cannot be started.
 */
export function startWatchdog(folder: string, deadline: number, onEnd: () => void, strike: Strike = killAttempts): ProcessStat {
	const {stdio, close} = isolatedStdio();
	const child = spawn('/bin/sh', ['-c', watchdogText(strike.text), 'troupe-watchdog', String(deadline), folder, ...strike.words], {
		cwd: '/',
		env: {PATH: '/usr/bin:/bin'},
		detached: true,
		stdio,
	});
	close();
	child.once('error', () => undefined); // There is no pid then.
	child.once('exit', onEnd);
	child.unref();
	const stat = child.pid === undefined ? undefined : statOf(child.pid);
	if (stat === undefined) throw new Error('no watchdog for the lease of the pod can be started');
	return stat;
}

/** Whether it can strike: it is that process, and neither stopped nor dead. */
export function stands(watchdog: ProcessStat): boolean {
	const now = statOf(watchdog.pid);
	return now?.startTime === watchdog.startTime && !'TtZX'.includes(now.state);
}

/** It leads a group of its own, with its `sleep`. */
export const callOff = (watchdog: ProcessStat): void => void signalGroup(watchdog, 'SIGKILL');

// ---- the record ------------------------------------------------------------------------------------------------------------
//
//   lease <its end, uptime in 1/100 s> <boot id>
//   watchdog <pid> <start time>

const recordFile = (folder: string): string => path.join(folder, 'watchdog');

export type LeaseRecord = {
	/** Undefined: none of this boot. */
	readonly deadline: number | undefined;
	/** Those of them that are still there. */
	readonly watchdogs: readonly ProcessStat[];
};

/** At once or not at all: a watchdog may be reading. Throws errno exceptions. */
export function writeLeaseRecord(folder: string, deadline: number, bootId: string, watchdogs: readonly ProcessStat[]): void {
	const lines = [`lease ${deadline} ${bootId}`, ...watchdogs.map(({pid, startTime}) => `watchdog ${pid} ${startTime}`)];
	const file = recordFile(folder);
	writeFileSync(`${file}.new`, `${lines.join('\n')}\n`, {mode: 0o600});
	renameSync(`${file}.new`, file);
}

/** What this or an earlier agent wrote; a line without a word is of one that had a single watchdog. */
export function readLeaseRecord(folder: string, bootId: string): LeaseRecord {
	const lines = valueOr('', () => readFileSync(recordFile(folder), 'utf8'))
		.trim()
		.split('\n');
	const words = lines.map(line => line.split(' '));
	const [, deadline] = words.find(([word, , boot]) => word === 'lease' && boot === bootId) ?? [];
	const watchdogs = words
		.filter(([word]) => word !== 'lease')
		.flatMap(line => {
			const [pid = Number.NaN, startTime] = (line[0] === 'watchdog' ? line.slice(1) : line).map(Number);
			const stat = statOf(pid);
			return stat !== undefined && stat.startTime === startTime ? [stat] : [];
		});
	return {deadline: deadline === undefined ? undefined : Number(deadline), watchdogs};
}

export const removeLeaseRecord = (folder: string): void => rmSync(recordFile(folder), {force: true});
