// Programs that tell themselves when they run: each writes down its beginning and then, twenty times a second, that it still runs, by the kernel's time
// since boot. What one says after the next has begun is told: then two of one container run at once.

import {chmodSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';

/** Its arguments are the folder of the journals, the pod and the container. */
const program = `
trap "exit 0" TERM
read -r up rest </proc/uptime
born=$up
echo "begins $up $born" >>"$1/$2.$3"
while :; do read -r up rest </proc/uptime; echo "runs $up $born" >>"$1/$2.$3"; sleep 0.05; done
`;

/** What a container runs; `$(POD)` is from its environment. */
export const journalWords = (folder: string, container: string): readonly string[] => [
	'sh',
	'-c',
	program,
	'sh',
	folder,
	'$(POD)',
	container,
];

export type Told = {
	readonly pod: string;
	readonly container: string;
	readonly begins: readonly number[];
	/** When each that was followed by another has spoken last. */
	readonly ends: readonly number[];
	readonly runs: readonly number[];
	/** Whether one has spoken after the next had begun. */
	readonly twice: boolean;
};

export type Journals = {
	readonly folder: string;
	/** What each container told, by this process's clock; it has hundredths of a second. */
	readonly read: () => readonly Told[];
};

/** Over a folder that programs of any user write in. */
export function openJournals(folder: string): Journals {
	chmodSync(folder, 0o777);
	return {folder, read: () => readdirSync(folder).map(name => toldIn(folder, name))};
}

function toldIn(folder: string, name: string): Told {
	const [pod = '', container = ''] = name.split('.');
	const bootMs = performance.now() - 1_000 * Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
	const lines = readFileSync(path.join(folder, name), 'utf8').trim().split('\n');
	const said = lines.map(line => line.split(' ')).map(([word = '', up, born = '']) => ({word, atMs: 1_000 * Number(up) + bootMs, born}));
	const timesOf = (wanted: string): readonly number[] => said.filter(({word}) => word === wanted).map(({atMs}) => atMs);
	const changes = said.filter(({born}, index) => born !== said[index - 1]?.born).length;
	const ends = said.filter(({born}, index) => index + 1 < said.length && born !== said[index + 1]?.born).map(({atMs}) => atMs);
	return {
		pod,
		container,
		begins: timesOf('begins'),
		ends,
		runs: timesOf('runs'),
		twice: changes > new Set(said.map(({born}) => born)).size,
	};
}
