// The addresses and node ports of Services: each is one Service's alone, until its removal is committed, and those that were given back come last.

import {hasClusterIP, hasNodePorts} from '../../../api/defaults/service.js';
import {fnv1a} from '../../../api/fnv.js';
import {ipv4Number, ipv4Text} from '../../../api/ipv4.js';
import type {ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import type {ServicePort, ServiceSpec} from '../../../api/kinds/service.js';
import type {Draft} from '../../../api/object.js';
import type {Problem} from '../../../api/problem.js';
import {serviceRanges, type NumberRange} from '../../../api/service-range.js';
import {shown} from '../../../api/shown.js';
import type {Known} from '../../../system/index/object-index.js';
import {clusterConfigKey} from '../../addresses.js';
import type {Allotment, Allotted, Stock} from '../objects/allotment.js';

const addressTerm = (address: string): string => `address=${address}`;
const nodePortTerm = (port: number, protocol = 'TCP'): string => `node-port=${port}/${protocol}`;

/** What a Service has alone, as terms of the index. */
export const ownTerms = ({clusterIP, ports = []}: ServiceSpec): readonly string[] => [
	...(clusterIP === undefined || clusterIP === 'None' ? [] : [addressTerm(clusterIP)]),
	...ports.flatMap(({nodePort, protocol}) => (nodePort === undefined ? [] : [nodePortTerm(nodePort, protocol)])),
];

/** Whether it is to have an address or node ports that it has not. */
export const lacksAddresses = (spec: ServiceSpec): boolean =>
	(hasClusterIP(spec) && spec.clusterIP === undefined) ||
	(hasNodePorts(spec) && spec.ports?.some(({nodePort}) => nodePort === undefined) === true);

const specOf = ({spec}: Pick<Draft, 'spec'>): ServiceSpec => spec ?? {};

export const serviceAllotment: Allotment = {
	isDue(after, before) {
		const had = new Set(ownTerms(specOf(before)));
		return lacksAddresses(specOf(after)) || ownTerms(specOf(after)).some(term => !had.has(term));
	},
	allot,
};

/** Numbers of which each is given once. */
type Pool = NumberRange & {
	/** Its name among the cursors. */
	readonly name: string;
	/** As the ClusterConfig has it. */
	readonly text: string;
	/** The search begins behind it, before anything was given. */
	readonly start: number;
};

/** Two clusters of one host share its loopback addresses and its ports: each begins at a place of its own. */
function poolsOf(known: Known): {readonly addresses: Pool; readonly nodePorts: Pool} {
	const config = known.get(clusterConfigKey) as ClusterConfig | undefined;
	const {serviceCIDR, nodePorts} = serviceRanges(config?.spec?.network);
	const seed = fnv1a(config?.metadata.uid ?? '');
	const blocks = Math.ceil(sizeOf(serviceCIDR) / 256);
	return {
		addresses: {...serviceCIDR, name: 'addresses', start: serviceCIDR.first - 1 + (seed % blocks) * 256},
		nodePorts: {...nodePorts, name: 'nodePorts', start: nodePorts.first - 1 + (seed % sizeOf(nodePorts))},
	};
}

const sizeOf = ({first, last}: NumberRange): number => last - first + 1;

/** What is wanted by name is taken before anything is chosen. */
function allot(wanted: Draft, stock: Stock): Allotted {
	const spec = specOf(wanted);
	const {addresses, nodePorts} = poolsOf(stock.known);
	const problems = [...addressProblems(spec, addresses, stock), ...portProblems(spec, nodePorts, stock)];
	if (problems.length > 0) return {ok: false, problems};
	const cursors: Record<string, number> = {...(stock.cursors['addresses'] === undefined ? newestOf(stock.known) : stock.cursors)};
	const taken = new Set(ownTerms(spec));
	const next = (pool: Pool, termOf: (number: number) => string): number | undefined => {
		const number = nextFree(pool, cursors[pool.name], each => !taken.has(termOf(each)) && !stock.isTaken(termOf(each)));
		if (number === undefined) return void problems.push({path: 'spec', message: `nothing of ${pool.text} is free`});
		cursors[pool.name] = number;
		taken.add(termOf(number));
		return number;
	};
	const given = withPorts(
		withAddress(spec, () => next(addresses, number => addressTerm(ipv4Text(number)))),
		protocol => next(nodePorts, number => nodePortTerm(number, protocol)),
	);
	if (problems.length > 0) return {ok: false, problems};
	return {ok: true, object: {...wanted, spec: given}, terms: ownTerms(given), cursors};
}

function withAddress(spec: ServiceSpec, next: () => number | undefined): ServiceSpec {
	if (!hasClusterIP(spec) || spec.clusterIP !== undefined) return spec;
	const clusterIP = ipv4Text(next() ?? 0);
	return {...spec, clusterIP, clusterIPs: [clusterIP]};
}

function withPorts(spec: ServiceSpec, next: (protocol: ServicePort['protocol']) => number | undefined): ServiceSpec {
	if (!hasNodePorts(spec) || spec.ports === undefined) return spec;
	return {...spec, ports: spec.ports.map(port => (port.nodePort === undefined ? {...port, nodePort: next(port.protocol) ?? 0} : port))};
}

/** The first that is free behind the cursor, round the whole range. */
function nextFree({first, last, start}: Pool, cursor: number | undefined, isFree: (number: number) => boolean): number | undefined {
	const size = last - first + 1;
	const from = cursor === undefined || cursor < first || cursor > last ? start : cursor;
	for (let step = 1; step <= size; step++) {
		const number = first + ((from - first + step) % size);
		if (isFree(number)) return number;
	}
	return undefined;
}

/** After a start the search goes on behind the newest Service. */
function newestOf(known: Known): Record<string, number> {
	const cursors: Record<string, number> = {};
	let newest = '';
	for (const each of known.list('services')) {
		const {clusterIP, ports = []} = specOf(each);
		const {creationTimestamp} = each.metadata;
		const number = ipv4Number(clusterIP ?? '');
		if (number === undefined || creationTimestamp < newest) continue;
		newest = creationTimestamp;
		cursors['addresses'] = number;
		const nodePort = ports.at(-1)?.nodePort;
		if (nodePort !== undefined) cursors['nodePorts'] = nodePort;
	}
	return cursors;
}

// ---- what is wanted ------------------------------------------------------------------------------------------------------

function addressProblems({clusterIP}: ServiceSpec, pool: Pool, stock: Stock): readonly Problem[] {
	if (clusterIP === undefined || clusterIP === 'None') return [];
	return problemsOf('spec.clusterIP', clusterIP, ipv4Number(clusterIP) ?? 0, addressTerm(clusterIP), pool, stock);
}

const portProblems = ({ports = []}: ServiceSpec, pool: Pool, stock: Stock): readonly Problem[] =>
	ports.flatMap(({nodePort, protocol}, i) =>
		nodePort === undefined
			? []
			: problemsOf(`spec.ports[${i}].nodePort`, nodePort, nodePort, nodePortTerm(nodePort, protocol), pool, stock),
	);

/** What it has it keeps, wherever that is from. */
function problemsOf(
	path: string,
	value: string | number,
	number: number,
	term: string,
	{first, last, text}: Pool,
	{isTaken, isIts}: Stock,
): readonly Problem[] {
	if (isIts(term)) return [];
	if (isTaken(term)) return [{path, message: `another service has ${shown(value)} already`, reason: 'FieldValueInvalid'}];
	return number >= first && number <= last ? [] : [{path, message: `must be in ${text}, got ${shown(value)}`, reason: 'FieldValueInvalid'}];
}
