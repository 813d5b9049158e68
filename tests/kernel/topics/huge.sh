# Huge pages of hugetlbfs.
echo 32 >/proc/sys/vm/nr_hugepages
for kind in anon memfd sysv; do
	track . huge-$kind -- job huge $kind 60 2
done
track . huge-limit --limit mem=40M -- job huge anon 60 30
resource-tracker recommend --no-servers huge-anon >huge.recommend
echo 0 >/proc/sys/vm/nr_hugepages
