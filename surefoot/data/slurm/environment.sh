# What the scheduler, the workers and the run itself share. Whoever can read key.pem can use the cluster.
export PYTHONSAFEPATH=1  # no code of the folder of the job is run
export DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=30
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False
export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=@folder@/certificate.pem
for role in SCHEDULER WORKER CLIENT; do
    export DASK_DISTRIBUTED__COMM__TLS__${role}__CERT=@folder@/certificate.pem
    export DASK_DISTRIBUTED__COMM__TLS__${role}__KEY=@folder@/key.pem
done
