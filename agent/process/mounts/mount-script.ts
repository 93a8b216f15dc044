// The shell script that puts a container's mounts in place, in a mount namespace of its own, which ends with its last process.
//
// It consists of our words and of numbers; all names are positional arguments. Whatever another program may exchange meanwhile is looked
// at when it is where it belongs: a folder is entered and asked for its path before it is bound as ".", a file is compared after it was bound.

import path from 'node:path';
import {limits} from '../../../api/limits.js';
import {refusedWord} from '../attempts/refused.js';
import {isWithin} from '../../os/beneath.js';
import {hidingTable, mountTable} from './mount-table.js';
import {hiddenNoun, type Cover, type Mount, type MountPlan} from './mount-plan.js';

/** Absolute paths of programs of util-linux and coreutils. */
export type MountTools = {readonly [Name in (typeof toolNames)[number]]: string};

export const toolNames = [
	'unshare',
	'nsenter',
	'setpriv',
	'mount',
	'umount',
	'pivot_root',
	'mountpoint',
	'mkdir',
	'cp',
	'rm',
	'chown',
	'chmod',
	'stat',
] as const;

export type MountScript = {readonly text: string; readonly words: readonly string[]};

export type MountPlace = {
	/** What is in memory only, if it is mounted now: programs see it through volumes only. */
	readonly memory: string | undefined;
	/** Where reasons are written to. */
	readonly stateDescriptor: number;
};

/** `words` are its first positional arguments; it ends with as many shifted away, in `/`. */
export function mountScript(plan: MountPlan, tools: MountTools, place: MountPlace): MountScript {
	const words: string[] = [];
	const said = (word: string): string => {
		words.push(word);
		return `"\${${words.length}}"`;
	};
	const isPrivate = plan.covers.length > 0;
	const writer: Writer = {tools, said, root: isPrivate ? plan.root : '', at: said(isPrivate ? plan.root : '')};
	const kept = place.memory === undefined ? undefined : said(place.memory);
	const lines = [
		// What mounts nothing of its own keeps the umask of its agent.
		...(isPrivate || plan.mounts.length > 0 ? ['umask 022'] : []),
		// Its first line, whatever it is.
		`refuse() { printf '${refusedWord} %s\\n' "\${1%%\n*}" >&${place.stateDescriptor}; exit 1; }`,
		// A namespace of its own has forgotten that it is not to be bound with the rest.
		...(isPrivate && kept !== undefined ? [`${tools.mount} --make-unbindable ${kept}`] : []),
		...(isPrivate ? rootLines(plan, writer) : []),
		...(isPrivate && kept !== undefined ? [`${tools.mount} --make-private ${kept}`] : []),
		...plan.mounts.flatMap(mount => (mount.remote === undefined ? bindLines(mount, writer) : remoteLines(mount, mount.remote, writer))),
		...hideLines(plan, writer),
		...(isPrivate ? pivotLines(writer) : kept === undefined ? [] : [`${tools.umount} -l ${kept}`]),
		'cd /',
		`shift ${words.length}`,
	];
	return {text: `${lines.join('\n')}\n`, words};
}

type Writer = {
	readonly tools: MountTools;
	/** A word as the text refers to it. */
	readonly said: (word: string) => string;
	/** Before each path that the program will see; empty without a private root. */
	readonly root: string;
	readonly at: string;
};

const tries = (command: string, what: string): string => `said=$(${command} 2>&1) || refuse "${what}: $said"`;

/** A folder that is not where it was is not entered. */
const enter = (folder: string, what: string): string =>
	`cd -P -- ${folder} && [ "$PWD" = ${folder} ] || refuse "${what} has changed meanwhile"`;

const rootFails = 'its private root cannot be made';

/** The file system in memory with all that a private root has of the node. */
function rootLines({covers, newFolders, newFiles, isReadOnly}: MountPlan, writer: Writer): readonly string[] {
	const {tools, said, at} = writer;
	const folders = byDepth([
		...covers.slice(1).map(({folder}) => folder),
		...covers.flatMap(cover => filesIn(cover, cover.folders)),
		...newFolders,
	]);
	const files = [...covers.flatMap(cover => filesIn(cover, cover.files)), ...newFiles];
	const options = `mode=755,size=${limits.privateRootBytes},nosuid,nodev`;
	return [
		tries(`${tools.mount} -t tmpfs -o ${options} --make-unbindable troupe ${at}`, rootFails),
		enter(at, rootFails),
		tries(`${tools.mkdir} -- ${folders.map(folder => said(`.${folder}`)).join(' ')}`, rootFails),
		...files.map(file => `true >${said(`.${file}`)} || refuse "${rootFails}"`),
		...covers.flatMap(cover => [...linkLines(cover, writer), ...ownerLines(cover, writer)]),
		...covers.flatMap(cover => coverLines(cover, writer)),
		`${tools.rm} -f ${at}/${tableName}`,
		...(isReadOnly ? [readOnlyText(writer)] : []),
	];
}

const filesIn = ({folder}: Cover, names: readonly string[]): readonly string[] => names.map(name => path.join(folder, name));

const depthOf = (file: string): number => file.split('/').length;
const byDepth = (files: readonly string[]): readonly string[] => [...files].sort((a, b) => depthOf(a) - depthOf(b));

function linkLines({folder, links}: Cover, {tools, said, at}: Writer): readonly string[] {
	if (links.length === 0) return [];
	const sources = links.map(name => said(path.join(folder, name)));
	return [tries(`${tools.cp} -P -- ${sources.join(' ')} ${at}${said(folder)}`, rootFails)];
}

function ownerLines({folder, mode, uid, gid}: Cover, {tools, said}: Writer): readonly string[] {
	return [
		...(uid === 0 && gid === 0 ? [] : [tries(`${tools.chown} ${uid}:${gid} ${said(`.${folder}`)}`, rootFails)]),
		...(mode === 0o755 ? [] : [tries(`${tools.chmod} ${mode.toString(8)} ${said(`.${folder}`)}`, rootFails)]),
	];
}

const tableName = '.mounts';

/** All at once, by a table: a program for each of a hundred mounts would take a hundred times as long. */
function coverLines(cover: Cover, writer: Writer): readonly string[] {
	const {tools, said, at, root} = writer;
	const names = [...cover.folders, ...cover.files];
	if (names.length === 0) return [];
	const here = said(cover.folder);
	const table = `${at}/${tableName}`;
	return [
		enter(here, 'a folder of the node'),
		`printf '%s' ${said(mountTable(names, path.join(root, cover.folder)))} >${table} || refuse "${rootFails}"`,
		tries(`${tools.mount} -c -a -T ${table}`, rootFails),
		...(cover.isOpen ? [sameLine(...looks(names, cover.folder, writer), tools, 'a folder of the node')] : []),
	];
}

const looks = (names: readonly string[], folder: string, {said, at}: Writer): [readonly string[], readonly string[]] => [
	names.map(name => said(`./${name}`)),
	names.map(name => `${at}${said(path.join(folder, name))}`),
];

/** What was bound is what is there, as links themselves are looked at and not what they lead to. */
const sameLine = (names: readonly string[], bound: readonly string[], {stat}: MountTools, what: string): string =>
	`[ "$(${stat} -c %d:%i -- ${names.join(' ')})" = "$(${stat} -c %d:%i -- ${bound.join(' ')})" ] || refuse "${what} has changed meanwhile"`;

/** All that is the node's but devices and what the kernel shows. A mount that another one hides cannot be reached, and need not be. */
const readOnlyText = ({tools, at}: Writer): string => `while read -r id parent device top point rest; do
case $point in *\\\\*)
point=$(printf '%s' "$point" | sed 's/\\\\/\\\\0/g')
point=$(printf '%b.' "$point")
point=\${point%.} ;;
esac
case $point in ${at}/dev|${at}/dev/*|${at}/proc|${at}/proc/*|${at}/sys|${at}/sys/*) continue ;; ${at}|${at}/*) ;; *) continue ;; esac
said=$(${tools.mount} -c -o remount,bind,ro "$point" 2>&1) || { ${tools.mountpoint} -q "$point" && refuse "its root cannot be made read-only: $said"; }
done </proc/self/mountinfo`;

function bindLines({volume, folder, file, target, readOnly, isDeep}: Mount, {tools, said, at, root}: Writer): readonly string[] {
	const name = `volume \\"${said(volume).slice(1, -1)}\\"`;
	const bound = `${at}${said(target)}`;
	const parent = path.dirname(target);
	// As a shell says where it is: a path does not end in "/".
	const around = file === undefined ? bound : `${at}${said(parent === '/' && root !== '' ? '' : parent)}`;
	const source = file === undefined ? '.' : said(`./${file}`);
	const options = `${isDeep ? 'rbind' : 'bind'}${readOnly ? ',ro,nosuid,nodev' : ''}`;
	return [
		enter(said(folder), name),
		bindText(`${tools.mount} -c`, options, source, bound, `${name} cannot be mounted`),
		...(file === undefined ? [] : [sameLine([source], [bound], tools, name)]),
		`cd -P -- ${around} && [ "$PWD" = ${around} ] || refuse "the place of ${name} has changed meanwhile"`,
	];
}

/**
 * The shim waits for a server no longer than `waitMs`, and can be killed meanwhile. Programs wait as long as it takes (`hard`): what they wrote is not
 * lost. A part of the export is bound over the whole. Source: nfs(5).
 */
function remoteLines(
	{volume, target, readOnly}: Mount,
	{from, subPath, tools: nfs}: NonNullable<Mount['remote']>,
	writer: Writer,
): readonly string[] {
	const {tools, said, at} = writer;
	const name = `volume \\"${said(volume).slice(1, -1)}\\"`;
	const source = said(from);
	const bound = `${at}${said(target)}`;
	const options = `hard,nosuid,nodev,retry=0${readOnly ? ',ro' : ''}`;
	const seconds = nfs.waitMs / 1_000;
	const fails = `${name} cannot be mounted from \\"${source.slice(1, -1)}\\"`;
	const lines = [
		`said=$(${nfs.timeout} --foreground -s KILL ${seconds} ${nfs.mount} ${source} ${bound} -n -o ${options} 2>&1) || refuse "${fails}: \${said:-no answer in ${seconds} s}"`,
	];
	if (subPath === '.') return lines;
	const part = `${bound}${said(path.join('/', subPath).replace(/\/$/, ''))}`;
	return [
		...lines,
		`cd -P -- ${part} 2>/dev/null && [ "$PWD" = ${part} ] || refuse "${name} has no folder \\"${said(subPath).slice(1, -1)}\\", or a link is on the way"`,
		bindText(`${tools.mount} -c`, 'bind', '.', bound, `${name} cannot be mounted`),
		'cd /',
	];
}

/** In a user namespace a mount keeps that no program on it may run, and that has to be said with the rest. */
function bindText(mount: string, options: string, source: string, bound: string, what: string): string {
	const again = options.includes(',ro') ? `${mount} -o remount,bind,ro,nosuid,nodev,noexec -- ${bound} 2>/dev/null || ` : '';
	return `said=$(${mount} -o ${options} -- ${source} ${bound} 2>&1) || ${again}refuse "${what}: $said"`;
}

/**
 * Puts an empty file system over each folder that the program is not to see, and the folder of its pod back into it. That one is entered
 * before, for afterwards no path leads there. All at once, by a table: each further run of mount(8) takes a millisecond or two of every start.
 */
function hideLines({hidden, podHome, isReadOnly, table}: MountPlan, {tools, said, root}: Writer): readonly string[] {
	if (hidden.length === 0) return [];
	const text = hidden.map(folder => {
		const isAround = podHome !== undefined && isWithin(folder, podHome);
		return hidingTable(path.join(root, folder), isAround ? path.join(root, podHome) : undefined, isReadOnly);
	});
	const file = said(table);
	const fails = `${hiddenNoun} cannot be hidden from it`;
	return [
		`printf %s ${said(text.join(''))} >${file} || refuse "${fails}"`,
		enter(podHome === undefined ? '/' : said(podHome), 'the folder of its pod'),
		tries(`${tools.mount} -c -a -T ${file}`, fails),
	];
}

/** Source: pivot_root(2), "pivot_root(\".\", \".\")": the old root lies above the new one until it is taken off. */
const pivotLines = ({tools, at}: Writer): readonly string[] => [
	`cd -P -- ${at} || refuse "${rootFails}"`,
	tries(`${tools.pivot_root} . . && ${tools.umount} -l .`, 'its private root cannot be entered'),
];
