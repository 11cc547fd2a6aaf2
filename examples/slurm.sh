#!/bin/bash
# Run a command of Surefoot on a cluster under SLURM: a job for the scheduler, an array of workers, and the run itself.
#
#   WORKERS=4 CPUS=25 MEMORY=32 TIME=08:00:00 bash examples/slurm.sh train ant --evaluations 1000000
#
# Further options of all jobs are variables that sbatch reads, such as SBATCH_PARTITION=cpu. Logs and the key of all
# connections are in the folder `cluster`, which all machines must be able to read.
set -euo pipefail
: "${TIME:?say how long the jobs may take, e.g. TIME=08:00:00}"
WORKERS=${WORKERS:-4} CPUS=${CPUS:-1} MEMORY=${MEMORY:-4}  # number of workers; cores and GiB of each
python=$(command -v "${PYTHON:-python}")
folder=$PWD/cluster
file=$folder/scheduler.json
mkdir -p "$folder"
rm -f "$file"
if [ ! -s "$folder/key.pem" ]; then  # one key for all three roles: who can read it can use the cluster
    (umask 077 && openssl req -x509 -newkey rsa:3072 -nodes -days 365 -subj /CN=surefoot \
        -keyout "$folder/key.pem" -out "$folder/certificate.pem")
fi

export PYTHONSAFEPATH=1  # no code of the folder of the job is run
export DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=30
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False
export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$folder/certificate.pem
for role in SCHEDULER WORKER CLIENT; do
    export "DASK_DISTRIBUTED__COMM__TLS__${role}__CERT=$folder/certificate.pem"
    export "DASK_DISTRIBUTED__COMM__TLS__${role}__KEY=$folder/key.pem"
done

submit() {  # NAME LINE OPTION...: a job of this environment; prints its number
    sbatch --parsable --export=ALL --time="$TIME" --mem="${MEMORY}G" --job-name="surefoot-$1" \
        --output="$folder/$1-%j.log" "${@:3}" --wrap "$2"
}
dask="exec '$python' -m dask"
SCHEDULER=$(submit scheduler "$dask scheduler --protocol tls --port 0 --dashboard-address 127.0.0.1:0 \
    --scheduler-file '$file'" --cpus-per-task=2)
ARRAY=$(submit workers "$dask worker --protocol tls --scheduler-file '$file' --dashboard-address 127.0.0.1:0 \
    --nworkers 1 --nthreads $CPUS --memory-limit ${MEMORY}GiB --death-timeout 300 \
    --local-directory \"\${TMPDIR:-/tmp}\"" --array="1-$WORKERS" --cpus-per-task="$CPUS" --dependency="after:$SCHEDULER")
run=$(printf '%q ' "$python" -m surefoot "$@" --cluster "$file")
submit driver "until [ -s '$file' ]; do sleep 1; done; srun --ntasks=1 $run; status=\$?
scancel $SCHEDULER $ARRAY; exit \$status" --cpus-per-task=4 --signal=TERM@120 --dependency="after:${ARRAY}_1"
