// What the failure of a pod means to its Job, by the rules of a podFailurePolicy.

import type {JobSpec} from '../../../api/kinds/job.js';
import type {ContainerStatus, Pod} from '../../../api/kinds/pod.js';

type Rule = NonNullable<JobSpec['podFailurePolicy']>['rules'][number];

export type FailureMeaning = {
	readonly action: Rule['action'];
	/** Why, in Kubernetes' words. */
	readonly message: string;
};

/** The first rule that matches decides; without one the failure counts as any other. */
export function meaningOf(spec: JobSpec, pod: Pod): FailureMeaning | undefined {
	for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
		const why = matched(rule, pod);
		if (why !== undefined) return {action: rule.action, message: `${why} matching ${rule.action} rule at index ${index}`};
	}
	return undefined;
}

function matched({onExitCodes, onPodConditions}: Rule, {metadata, status}: Pod): string | undefined {
	const name = `${metadata.namespace ?? ''}/${metadata.name}`;
	if (onExitCodes !== undefined) {
		const containers = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
		const failed = containers.find(each => hasMatchingCode(onExitCodes, each));
		return failed === undefined
			? undefined
			: `Container ${failed.name} for pod ${name} failed with exit code ${failed.state?.terminated?.exitCode ?? 0}`;
	}
	const condition = onPodConditions?.find(wanted =>
		status?.conditions?.some(({type, status: is}) => type === wanted.type && is === (wanted.status ?? 'True')),
	);
	return condition === undefined ? undefined : `Pod ${name} has condition ${condition.type}`;
}

/** A container that still runs, or that succeeded, has no code to look at. */
function hasMatchingCode({containerName, operator, values}: NonNullable<Rule['onExitCodes']>, {name, state}: ContainerStatus): boolean {
	const code = state?.terminated?.exitCode;
	if (code === undefined || code === 0 || (containerName !== undefined && containerName !== name)) return false;
	return values.includes(code) === (operator === 'In');
}
