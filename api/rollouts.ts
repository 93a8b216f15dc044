// Annotations by which versions of what makes pods are told, as Kubernetes and its tools write them.

/** Which version a ReplicaSet is, and which one its Deployment runs. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
/** Revisions that the same template had before. */
export const revisionHistoryAnnotation = 'deployment.kubernetes.io/revision-history';
export const desiredReplicasAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxReplicasAnnotation = 'deployment.kubernetes.io/max-replicas';
/** Why there is another version, in the words of who made it. */
export const changeCauseAnnotation = 'kubernetes.io/change-cause';
/** Of a template: when its pods were last asked to be made anew. */
export const restartedAtAnnotation = 'kubectl.kubernetes.io/restartedAt';

/** Tells the pods of one template from those of the others of their owner. */
export const hashLabel = 'pod-template-hash';

/** What is about the one object that has it: neither a version takes it from its Deployment nor a rollback takes it from a version. */
export const ownAnnotations: ReadonlySet<string> = new Set([
	'kubectl.kubernetes.io/last-applied-configuration',
	'deprecated.deployment.rollback.to',
	revisionAnnotation,
	revisionHistoryAnnotation,
	desiredReplicasAnnotation,
	maxReplicasAnnotation,
]);
