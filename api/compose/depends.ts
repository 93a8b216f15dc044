// `depends_on` and `links`: what a service waits for, and who may be called how.

import {isObject, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {below, refuse, remark, type At} from './findings.js';
import type {Project} from './project.js';
import {flagOf, membersOf, refuseOthers, textOf, textsOf} from './values.js';

export const conditions = ['service_started', 'service_healthy', 'service_completed_successfully'] as const;

export type Dependency = {readonly service: string; readonly condition: (typeof conditions)[number]; readonly at: At};

/** What a service waits for, links among it. */
export function dependenciesOf(service: At, fields: JsonObject, project: Project): readonly Dependency[] {
	const at = below(service, 'depends_on');
	const value = fields['depends_on'];
	const said: readonly Dependency[] = isObject(value)
		? Object.entries(value).flatMap(([name, member = null]) => ofMap(below(at, name), name, membersOf(below(at, name), member), project))
		: textsOf(at, value).map(({text, at: here}) => ({service: text, condition: 'service_started', at: here}));
	const names = new Set(said.map(dependency => dependency.service));
	const linked = linksOf(service, fields).filter(link => !names.has(link.service));
	const all = [...said, ...linked.map(({service: name, at: here}) => ({service: name, condition: 'service_started' as const, at: here}))];
	return all.filter(({service: name, at: here}) => isWanted(here, name, project));
}

function ofMap(at: At, service: string, members: JsonObject, {services}: Project): readonly Dependency[] {
	refuseOthers(at, members, ['condition', 'restart', 'required']);
	const word = textOf(below(at, 'condition'), members['condition']) ?? 'service_started';
	const condition = conditions.find(one => one === word);
	if (flagOf(below(at, 'restart'), members['restart']) === true)
		remark(below(at, 'restart'), 'is not used: a change of one service starts no other one again');
	if (flagOf(below(at, 'required'), members['required']) === false && !services.has(service)) return [];
	if (condition === undefined)
		return (
			refuse(below(at, 'condition'), `must be one of ${conditions.join(', ')}, got ${shown(word)}${didYouMean(word, conditions)}`) ?? []
		);
	return [{service, condition, at}];
}

function isWanted(at: At, name: string, {services, serviceNames}: Project): boolean {
	if (services.has(name)) return true;
	if (serviceNames.includes(name)) refuse(at, `${shown(name)} is left out: its profiles are not asked for`);
	else refuse(at, `there is no service ${shown(name)}${didYouMean(name, serviceNames)}`);
	return false;
}

export type Link = {readonly service: string; readonly alias: string; readonly at: At};

/** `db`, or `db:database`. */
export const linksOf = (service: At, fields: JsonObject): readonly Link[] =>
	textsOf(below(service, 'links'), fields['links']).map(({text, at}) => {
		const [name = '', alias = name] = text.split(':');
		return {service: name, alias, at};
	});

/** Tells of services that wait for each other in a circle. */
export function refuseCircles(dependencies: ReadonlyMap<string, readonly Dependency[]>): void {
	const done = new Set<string>();
	const visit = (service: string, trail: ReadonlySet<string>): void => {
		if (done.has(service)) return;
		const here = new Set([...trail, service]);
		for (const {service: next, at} of dependencies.get(service) ?? []) {
			if (here.has(next)) refuse(at, `goes in a circle: ${circle([...here], next)}`);
			else visit(next, here);
		}
		done.add(service);
	};
	for (const service of dependencies.keys()) visit(service, new Set());
}

/** From where it comes back to; of a long one the beginning and the end. */
function circle(trail: readonly string[], back: string): string {
	const round = trail.slice(trail.indexOf(back));
	const told = round.length > 10 ? [...round.slice(0, 5), '…', ...round.slice(-4)] : round;
	return [...told, back].join(', ');
}
