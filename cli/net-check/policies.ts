// NetworkPolicies that a refused connection may be owed to: those for the pod that asks and for the one that is asked. Pure.

import type {NetworkPolicy, PolicyType} from '../../api/kinds/networkpolicy.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {WayTried} from '../../api/way-check.js';
import {isFor} from '../../actors/control/network/policy-selection.js';
import type {EndPoint, Facts} from './facts.js';
import {broken, type Hop} from './hops.js';

/** What rules of nodes answer to what no policy lets through. A host that is not there answers nothing at all. */
export const isRejected = (result: WayTried): boolean => !result.ok && result.code === 'EHOSTUNREACH';

/** Undefined: no policy is for either of them. */
export function policyHop(facts: Facts, at: EndPoint): Hop | undefined {
	const from = isolating(facts, facts.origin?.pod, 'Egress');
	const to = isolating(facts, podAt(facts, at), 'Ingress');
	const [first] = [...from, ...to];
	if (first === undefined) return undefined;
	const said = [
		...(from.length === 0 ? [] : [`${namesOf(from)} for what pod ${facts.origin?.pod?.metadata.name ?? ''} sends`]),
		...(to.length === 0 ? [] : [`${namesOf(to)} for what comes to pod ${at.pod?.name ?? ''}`]),
	];
	return broken(
		'policy',
		`${at.address}:${at.port} is refused by a NetworkPolicy: ${said.join(', ')}`,
		`let it through by a rule of each direction: troupe describe networkpolicy ${first.metadata.name} -n ${first.metadata.namespace ?? ''}`,
	);
}

const namesOf = (policies: readonly NetworkPolicy[]): string => policies.map(({metadata}) => metadata.name).join(', ');

const isolating = ({policies = []}: Facts, pod: Pod | undefined, type: PolicyType): readonly NetworkPolicy[] =>
	pod === undefined ? [] : policies.filter(policy => isFor(policy, pod) && (policy.spec?.policyTypes ?? []).includes(type));

function podAt({target}: Facts, {pod}: EndPoint): Pod | undefined {
	if (target?.kind === 'pod') return target.pod;
	return target?.kind === 'service' ? target.pods.find(({metadata}) => metadata.name === pod?.name) : undefined;
}
