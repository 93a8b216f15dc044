// Why a node has ended a pod that was to run, in Kubernetes' words.

export type PodFailure = {readonly reason: string; readonly message: string};

/** A pod that was ended since its time was over. */
export const deadlineExceeded = 'DeadlineExceeded';

export const overdueFailure: PodFailure = {
	reason: deadlineExceeded,
	message: 'the pod was active on its node for longer than activeDeadlineSeconds',
};
