// Who is there: alive, suspect, dead. Pure; one reading after another, and nothing happens between two readings.
//
// Only the readings' own monotonic clock counts here. A member that is dead was silent for a whole grace in which the observer itself
// was well and heard half of all members; what it cannot know it does not say.

import {isNewer, type Presence} from '../../api/presence.js';
import {limits} from '../../api/limits.js';
import {usualPace, type Pace} from './pace.js';

/** What was heard since the last reading. */
export type Signs = {
	/** Monotonic clock of the observer's host. */
	readonly atMs: number;
	/** The longest silence of the observer's own loop. */
	readonly lagMs: number;
	/** Whether the observer's own message through the broker came back. */
	readonly canaryHeard: boolean;
	/** Members that said that they live. */
	readonly beats: readonly string[];
	/** Of which boot those beats are, where they say it. */
	readonly boots?: Readonly<Record<string, string>>;
	/** Members of which any packet came, on any connection. */
	readonly packets: readonly string[];
	/** In order of arrival. */
	readonly presences: readonly (Presence & {readonly node: string})[];
};

/**
 * - `unknown`: not heard since the observer began.
 * - `suspect`: no beat, or its connection was closed.
 * - `restarting`: it said that it will be back.
 * - `dead`: silent for the whole grace, as far as the observer may judge.
 */
export type MemberState = 'unknown' | 'alive' | 'suspect' | 'restarting' | 'dead';

/**
 * What a member is to the observer.
 * - `remote`: judged by what is heard.
 * - `local`: in the observer's own process, alive by definition.
 * - `lost`: a person has said that it is lost.
 * - `departed`: not a member any more, but things of it are left.
 */
export type MemberStanding = 'remote' | 'local' | 'lost' | 'departed';

export type Member = {
	readonly state: MemberState;
	/** When it was first listed: of the time before the observer cannot tell. */
	readonly sinceMs: number;
	readonly beatAtMs: number | undefined;
	/** Of the newest packet, beats included. */
	readonly heardAtMs: number | undefined;
	/** Of the first beat of those that came without a silence between them. */
	readonly beatsSinceMs: number | undefined;
	/** Of the first packet, or of the word that it is connected anew: its beats have a moment to follow. */
	readonly newAtMs: number | undefined;
	/** The newest word of it is its will. */
	readonly closed: boolean;
	readonly restartingUntilMs: number | undefined;
	readonly presence: Presence | undefined;
	readonly formerBoots: readonly string[];
	/** It would be dead if more than half of the others were heard. */
	readonly frozen: boolean;
	/** It is dead, and the observer was well throughout the last grace. */
	readonly isEvictable: boolean;
};

export type Membership = {
	readonly startedAtMs: number;
	readonly atMs: number;
	/** The loop did not stand still since. */
	readonly smoothSinceMs: number;
	readonly canaryAtMs: number;
	/** The observer is well since; undefined while it is not. */
	readonly wellSinceMs: number | undefined;
	/** At least half of all members are heard since; undefined while they are not. */
	readonly majoritySinceMs: number | undefined;
	readonly heard: number;
	/** How many members count for that. */
	readonly counted: number;
	readonly members: ReadonlyMap<string, Member>;
};

type Observer = Pick<Membership, 'startedAtMs' | 'atMs' | 'smoothSinceMs' | 'canaryAtMs' | 'wellSinceMs'>;

/** The membership after a reading; the first one begins it. */
export function observe(
	previous: Membership | undefined,
	signs: Signs,
	roster: ReadonlyMap<string, MemberStanding>,
	pace: Pace = usualPace,
): Membership {
	const observer = observerAfter(previous, signs, pace);
	const news = newsOf(signs);
	const heardOf = new Map<string, Member>();
	for (const [name, standing] of roster) {
		const before = previous?.members.get(name) ?? stranger(observer.atMs);
		const member = withNews(before, news.get(name) ?? nothing, observer.atMs, pace);
		heardOf.set(name, {...member, state: livenessOf(member, standing, observer, pace)});
	}
	const {heard, counted} = census(heardOf, roster);
	const majoritySinceMs = heard * 2 > counted - 1 ? (previous?.majoritySinceMs ?? observer.atMs) : undefined;
	const members = new Map<string, Member>();
	for (const [name, member] of heardOf)
		members.set(name, judged(member, previous?.members.get(name), roster.get(name) ?? 'remote', observer, majoritySinceMs, pace));
	return {...observer, majoritySinceMs, heard, counted, members};
}

/** How long nothing was heard of a member. */
export const silenceMs = ({atMs}: Pick<Membership, 'atMs'>, {heardAtMs, sinceMs}: Member): number => atMs - (heardAtMs ?? sinceMs);

/** The membership without what was known of one member: should it come again, it is a stranger. */
export function forgetMember(membership: Membership, name: string): Membership {
	const members = new Map(membership.members);
	members.delete(name);
	return {...membership, members};
}

function observerAfter(previous: Membership | undefined, signs: Signs, {observerLagMs, suspectAfterMs}: Pace): Observer {
	const {atMs: toldMs, lagMs, canaryHeard} = signs;
	if (previous === undefined) {
		const wellSinceMs = lagMs < observerLagMs ? toldMs : undefined;
		return {startedAtMs: toldMs, atMs: toldMs, smoothSinceMs: toldMs, canaryAtMs: toldMs, wellSinceMs};
	}
	const atMs = Math.max(previous.atMs, toldMs);
	const lagged = lagMs >= observerLagMs || atMs - previous.atMs >= limits.signsMs + observerLagMs;
	const canaryAtMs = canaryHeard ? atMs : previous.canaryAtMs;
	const isWell = !lagged && atMs - canaryAtMs < suspectAfterMs;
	return {
		startedAtMs: previous.startedAtMs,
		atMs,
		smoothSinceMs: lagged ? atMs : previous.smoothSinceMs,
		canaryAtMs,
		wellSinceMs: isWell ? (previous.wellSinceMs ?? atMs) : undefined,
	};
}

/** What was heard of one member since the last reading. */
type News = {beat: boolean; boot?: string | undefined; packet: boolean; readonly presences: Presence[]};

const nothing: News = {beat: false, packet: false, presences: []};

function newsOf({beats, boots = {}, packets, presences}: Signs): ReadonlyMap<string, News> {
	const news = new Map<string, News>();
	const of = (name: string): News => {
		const found = news.get(name) ?? {beat: false, packet: false, presences: []};
		news.set(name, found);
		return found;
	};
	for (const name of beats) Object.assign(of(name), {beat: true, boot: boots[name]});
	for (const name of packets) of(name).packet = true;
	for (const presence of presences) of(presence.node).presences.push(presence);
	return news;
}

const withNews = (before: Member, {beat, boot, packet, presences}: News, atMs: number, {suspectAfterMs}: Pace): Member =>
	withPackets(before, withBoot(withPresences(before, presences, atMs), boot), beat, packet, atMs, suspectAfterMs);

/** Who beats after a restart is back, also where its word of that was lost: it is, while the node is not registered again. */
function withBoot(member: Member, boot: string | undefined): Member {
	const isBack = boot !== undefined && boot !== member.presence?.boot && !member.formerBoots.includes(boot);
	return isBack ? {...member, restartingUntilMs: undefined} : member;
}

const stranger = (sinceMs: number): Member => ({
	state: 'unknown',
	sinceMs,
	beatAtMs: undefined,
	heardAtMs: undefined,
	beatsSinceMs: undefined,
	newAtMs: undefined,
	closed: false,
	restartingUntilMs: undefined,
	presence: undefined,
	formerBoots: [],
	frozen: false,
	isEvictable: false,
});

/** A word of an earlier connection or boot is no news, nor is one that is told again. */
const withPresences = (member: Member, presences: readonly Presence[], atMs: number): Member =>
	presences.reduce((now, presence) => (isNews(presence, now) ? withPresence(now, presence, atMs) : now), member);

function isNews(presence: Presence, {presence: newest, formerBoots}: Member): boolean {
	if (formerBoots.includes(presence.boot) || !isNewer(presence, newest)) return false;
	return presence.boot !== newest?.boot || presence.connection !== newest.connection || presence.state !== newest.state;
}

function withPresence(member: Member, {state, boot, connection}: Presence, atMs: number): Member {
	const {presence: old, formerBoots} = member;
	const boots = old === undefined || old.boot === boot ? formerBoots : [...formerBoots, old.boot].slice(-limits.agentBootsKept);
	const now: Member = {...member, presence: {state, boot, connection}, formerBoots: boots};
	switch (state) {
		case 'online':
			return {...now, closed: false, restartingUntilMs: undefined, newAtMs: atMs};
		case 'restarting':
			return {...now, restartingUntilMs: atMs + limits.announcedRestartMs};
		case 'offline':
			return {...now, closed: true};
	}
}

/** A will and a beat of the same reading: which came first is not known, and the next beat will tell. */
function withPackets(before: Member, member: Member, beat: boolean, packet: boolean, atMs: number, suspectAfterMs: number): Member {
	if (!beat && !packet) return member;
	const wasSilent = before.heardAtMs === undefined || atMs - before.heardAtMs >= suspectAfterMs;
	const closed = member.closed && !(before.closed && (beat || wasSilent));
	const now: Member = {...member, heardAtMs: atMs, newAtMs: member.newAtMs ?? atMs, closed};
	if (!beat) return now;
	const isBroken = before.beatAtMs === undefined || atMs - before.beatAtMs >= suspectAfterMs;
	return {...now, beatAtMs: atMs, beatsSinceMs: isBroken ? atMs : member.beatsSinceMs};
}

/**
 * What is heard of it now, without a word on whether it is dead. After a silence one beat does not bring it back, nor other packets: of a host that
 * is heard and hears nothing TCP sends the same again for ever longer times, and takes along what was written meanwhile.
 */
function livenessOf(member: Member, standing: MemberStanding, observer: Observer, {suspectAfterMs, beatMs}: Pace): MemberState {
	if (standing === 'local') return 'alive';
	const {restartingUntilMs = 0, heardAtMs, state} = member;
	if (observer.atMs < restartingUntilMs && standing !== 'lost') return 'restarting';
	if (heardAtMs === undefined) return 'unknown';
	if (member.closed) return 'suspect';
	const {atMs} = observer;
	const {beatAtMs, beatsSinceMs, newAtMs} = member;
	const isRecent = (ms: number | undefined): boolean => ms !== undefined && atMs - ms < suspectAfterMs;
	const isSteady = beatAtMs !== undefined && beatsSinceMs !== undefined && beatAtMs - beatsSinceMs >= beatMs;
	const isQuiet = !isRecent(newAtMs) && !(isSteady && isRecent(beatAtMs));
	// An observer that stood still has not read yet what came meanwhile.
	const isJudge = state !== 'alive' || atMs - observer.smoothSinceMs >= suspectAfterMs;
	return isQuiet && isJudge ? 'suspect' : 'alive';
}

/** Who is lost or departed says nothing about the observer. */
function census(members: ReadonlyMap<string, Member>, roster: ReadonlyMap<string, MemberStanding>): {heard: number; counted: number} {
	let heard = 0;
	let counted = 0;
	for (const [name, {state}] of members) {
		const standing = roster.get(name);
		if (standing !== 'remote' && standing !== 'local') continue;
		counted++;
		if (state === 'alive') heard++;
	}
	return {heard, counted};
}

function judged(
	member: Member,
	before: Member | undefined,
	standing: MemberStanding,
	observer: Observer,
	majoritySinceMs: number | undefined,
	{graceMs, suspectAfterMs}: Pace,
): Member {
	if (member.state === 'alive' || member.state === 'restarting') return {...member, frozen: false, isEvictable: false};
	const {atMs, startedAtMs, wellSinceMs = atMs} = observer;
	const silentSinceMs = member.heardAtMs ?? member.sinceMs;
	// Since when nothing is heard by an observer that could have heard.
	const sinceMs = {
		local: atMs,
		remote: Math.max(silentSinceMs, wellSinceMs, majoritySinceMs ?? atMs),
		departed: Math.max(silentSinceMs, member.sinceMs, wellSinceMs),
		lost: Math.max(startedAtMs, silentSinceMs - graceMs + suspectAfterMs),
	}[standing];
	const isOver = atMs - sinceMs >= graceMs;
	const wasDead = before?.state === 'dead' && before.heardAtMs === member.heardAtMs;
	const isLate = before?.frozen === true || atMs - Math.max(silentSinceMs, wellSinceMs) >= graceMs;
	return {
		...member,
		state: isOver || wasDead ? 'dead' : member.state,
		frozen: standing === 'remote' && majoritySinceMs === undefined && isLate,
		isEvictable: isOver,
	};
}
