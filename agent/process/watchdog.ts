// A small shell per exclusive pod that kills what runs of it when the pod's lease ends, whatever has become of the agent.
//
// What it keeps true: it counts by the kernel's time since boot, which nobody sets; the new watchdog stands before the old one is
// called off; what it kills is what the pod's own state files name, so attempts that began after it are found too.

import {spawn} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {signalGroup, statOf, type ProcessStat} from './identity.js';
import {isolatedStdio} from './spawn.js';

/**
 * Waits until the uptime (1/100 s) of $1, then kills every process that a state file under $2 names and does not call over: first the
 * program, so that its shim can write the code down, then the group. A pid with another start time is somebody else's.
 */
const watchdogText = `uptime() { read -r up rest </proc/uptime; now=\${up%.*}\${up#*.}; }
uptime
while [ "$now" -lt "$1" ]; do
left=$(($1 - now + 1))
sleep "$((left / 100)).$((left % 100 / 10))$((left % 10))"
uptime
done
find_process() {
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
for file in "$2"/*/*/state; do [ -f "$file" ] && find_process "$file" && kill -s KILL "$pid"; done
sleep 0.2
for file in "$2"/*/*/state; do [ -f "$file" ] && find_process "$file" && kill -s KILL "-$group"; done
:`;

const recordFile = (folder: string): string => path.join(folder, 'watchdog');

/** What the kernel has counted since it began, in hundredths of a second: CLOCK_BOOTTIME. Throws errno exceptions. */
function uptimeHundredths(): number {
	const [seconds = ''] = readFileSync('/proc/uptime', 'utf8').split(' ');
	return Math.floor(Number(seconds) * 100);
}

/**
 * Has the pod of this folder killed in `leftMs()` from now unless it is called again before. `leftMs` is asked after the kernel's time
 * was taken: whatever holds this process up in between makes the end earlier, never later. Calls back once the watchdog stands, with the
 * uptime (1/100 s) at which it strikes.
 */
export function setWatchdog(
	folder: string,
	leftMs: () => number,
	done: (outcome: {readonly deadline: number} | {readonly error: Error}) => void,
): void {
	const now = uptimeHundredths();
	const deadline = now + Math.floor(leftMs() / 10);
	const {stdio, close} = isolatedStdio();
	const child = spawn('/bin/sh', ['-c', watchdogText, 'troupe-watchdog', String(deadline), folder], {
		cwd: '/',
		env: {PATH: '/usr/bin:/bin'},
		detached: true,
		stdio,
	});
	close();
	child.once('error', error => done({error}));
	child.once('spawn', () => {
		const former = readWatchdog(folder);
		const stat = child.pid === undefined ? undefined : statOf(child.pid);
		if (stat === undefined) return done({error: new Error('the watchdog of the pod ended at once')});
		try {
			writeFileSync(recordFile(folder), `${stat.pid} ${stat.startTime}\n`, {mode: 0o600});
		} catch (error) {
			callOff(stat); // The former one stands.
			return done({error: error instanceof Error ? error : new Error(String(error))});
		}
		callOff(former);
		done({deadline});
	});
	child.unref();
}

/** Nothing of the pod is left to be killed. */
export function endWatchdog(folder: string): void {
	callOff(readWatchdog(folder));
	rmSync(recordFile(folder), {force: true});
}

/** The watchdog that this or an earlier agent set; undefined when there is none any more. */
function readWatchdog(folder: string): ProcessStat | undefined {
	try {
		const [pid, startTime] = readFileSync(recordFile(folder), 'utf8').trim().split(' ').map(Number);
		const stat = pid === undefined ? undefined : statOf(pid);
		return stat?.startTime === startTime ? stat : undefined;
	} catch {
		return undefined;
	}
}

/** It leads a group of its own, with its `sleep`. */
function callOff(watchdog: ProcessStat | undefined): void {
	if (watchdog !== undefined) signalGroup(watchdog, 'SIGKILL');
}
